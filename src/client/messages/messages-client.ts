// `lockstep.messages`: messages looked up in the log, without claiming any. One is named by its partition id and transaction id,
// which every delivered message carries.
import { integer, oneOf, optional, readFields, root, text } from '../../protocol/check.ts'
import type { Redriven } from '../../protocol/dead-letter.ts'
import type { FoundMessage, ListedMessage, MessageFilter } from '../../protocol/found-message.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { namespaceName, partitionName, queueName, transactionIdText } from '../../protocol/names.ts'
import type { Page } from '../../protocol/page.ts'
import { instantOf, targetCall, type ReplayTarget } from '../dead-letters/dead-letter-input.ts'
import { replayOutcome, type ReplayOutcome } from '../dead-letters/dead-letters-client.ts'
import type { EffectiveSettings } from '../queue-settings.ts'
import type { Untyped } from '../untyped.ts'

/** A message, or its address. */
export interface MessageRef {
  readonly partitionId: string
  readonly transactionId: string
}

/** A message as it lies in the log, or as its dead letter remembers it. */
export interface StoredMessage extends Omit<ListedMessage, 'payload'> {
  /** Null as well when the payload is sealed with a key that the server does not have; `text` is null then. */
  readonly data: Untyped
  readonly text: string | null
}

export interface MessageView extends StoredMessage {
  readonly queueOptions: EffectiveSettings
  readonly retryCount: number
  readonly errorMessage: string | null
  readonly consumerGroups: FoundMessage['consumerGroups']
}

export interface MessageListOptions {
  readonly queue?: string | undefined
  readonly partition?: string | undefined
  readonly namespace?: string | undefined
  readonly task?: string | undefined
  readonly status?: ListedMessage['status'] | undefined
  /** Created at or after this instant. */
  readonly from?: string | Date | undefined
  /** Created before this instant. */
  readonly to?: string | Date | undefined
  /** At most 1,000; 100 unless said. */
  readonly limit?: number | undefined
  /** Leave out the newest so many. */
  readonly offset?: number | undefined
}

export interface StoredMessages {
  readonly messages: readonly StoredMessage[]
  /** The `offset` of the next page; null at the end. */
  readonly nextOffset: number | null
}

export type MessagePage = Omit<MessageFilter, 'before'>

export type FoundOne = Omit<FoundMessage, 'queueOptions'> & { readonly queueOptions: EffectiveSettings }

/** What a transport does for it. */
export interface MessageCalls {
  list(page: MessagePage): Promise<Page<ListedMessage>>
  get(ref: MessageRef): Promise<FoundOne | null>
  retry(
    ref: MessageRef,
    target: { readonly queue: string | null; readonly partition: string | null },
  ): Promise<Redriven>
  delete(ref: MessageRef): Promise<number>
}

export interface Messages {
  /** Newest first. */
  list(options?: MessageListOptions): Promise<StoredMessages>
  /** What became of one; null when neither the log nor the dead letters have it. */
  get(message: MessageRef): Promise<MessageView | null>
  /** Puts the newest dead letter of a message back, as `deadLetters.replay` does. */
  retry(message: MessageRef, target?: ReplayTarget): Promise<ReplayOutcome>
  /** Removes the dead letters of a message, of all groups; what lies in the log stays. */
  delete(message: MessageRef): Promise<{ readonly deleted: number }>
}

const FILTER = {
  queue: optional(queueName, null),
  partition: optional(partitionName, null),
  namespace: optional(namespaceName, null),
  task: optional(namespaceName, null),
  status: optional(oneOf('pending', 'processing', 'completed', 'dead_letter'), null),
  limit: optional(integer(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integer(0, LIMITS.listLimit * 1_000), 0),
} as const
const REF = { partitionId: text({ min: 1, max: LIMITS.nameBytes }), transactionId: transactionIdText } as const

export const messageRef = (message: MessageRef): MessageRef => readFields(REF, message, root())

function stored<M extends { readonly payload: string | null }>({
  payload,
  ...message
}: M): Omit<M, 'payload'> & { readonly data: Untyped; readonly text: string | null } {
  return { ...message, data: payload === null ? null : JSON.parse(payload), text: payload }
}

export function messagesClient(calls: MessageCalls): Messages {
  return {
    async list(options = {}) {
      const { offset: skip, ...filter } = readFields(FILTER, options, root())
      const span = { from: instantOf(options.from, 'from'), to: instantOf(options.to, 'to') }
      const { entries, cut } = await calls.list({ ...filter, ...span, skip })
      const more = cut || entries.length === filter.limit
      return { messages: entries.map(stored), nextOffset: more ? skip + entries.length : null }
    },
    async get(message) {
      const found = await calls.get(messageRef(message))
      return found === null ? null : stored(found)
    },
    retry: async (message, target = {}) => replayOutcome(await calls.retry(messageRef(message), targetCall(target))),
    delete: async (message) => ({ deleted: await calls.delete(messageRef(message)) }),
  }
}
