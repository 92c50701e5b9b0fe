// `lockstep.deadLetters`: messages that were given up, looked at, put back into their queue or removed, one or many. What is
// not so (gone, already copied, no such queue) is a value.
import type { DeadLetter, Redriven } from '../../protocol/dead-letter.ts'
import type { DeadLetterSelection } from '../../protocol/dead-letter.ts'
import type { Page } from '../../protocol/page.ts'
import type { Untyped } from '../untyped.ts'
import { bulkCall, letterId, pageCall, targetCall } from './dead-letter-input.ts'
import type {
  DeadLetterBulkOptions,
  DeadLetterListOptions,
  DeadLetterPageCall,
  ReplayTarget,
} from './dead-letter-input.ts'

/** A dead letter as a caller reads it. */
export interface DeadMessage extends Omit<DeadLetter, 'payload' | 'group' | 'cause'> {
  /** Null as well when the payload is sealed with a key that the server does not have; `text` is null then. */
  readonly data: Untyped
  /** The payload exactly as it was pushed, as text. */
  readonly text: string | null
  /** Empty when no group was involved. */
  readonly consumerGroup: string
  /** Its retries are spent; it kept losing its workers; a consumer said so; its id came again with another payload. */
  readonly cause: 'failed' | 'crashed' | 'forced' | 'conflict'
}

export interface DeadMessages {
  readonly messages: readonly DeadMessage[]
  /** The `offset` of the next page; null at the end. */
  readonly nextOffset: number | null
}

/** What became of one replay. A lost one changed nothing. */
export type ReplayOutcome =
  | {
      readonly success: true
      readonly queue: string
      readonly partition: string
      readonly messageId: string
      /** Of the copy: `dlq:` and the id of the dead letter. */
      readonly transactionId: string
    }
  | { readonly success: false; readonly reason: 'duplicate' | 'gone' | 'queue_not_found' | 'queue_full' }

export interface ReplayCount {
  readonly matched: number
  readonly moved: number
  /** Left where they are: their copy is still known, or the queue is full. */
  readonly kept: number
}

export interface DeadLetters {
  /** Newest first. */
  list(options?: DeadLetterListOptions): Promise<DeadMessages>
  get(id: string): Promise<DeadMessage | null>
  /** Puts a copy at the end of its partition, or of another, and removes the dead letter, in one commit. */
  replay(id: string, target?: ReplayTarget): Promise<ReplayOutcome>
  /** The same for all that the options select, oldest first, each in whole or not at all. */
  replayAll(queue: string, options?: DeadLetterBulkOptions): Promise<ReplayCount>
  /** Removes all that the options select. */
  purge(queue: string, options?: DeadLetterBulkOptions): Promise<{ readonly deleted: number }>
}

/** What a transport does for it. */
export interface DeadLetterCalls {
  list(page: DeadLetterPageCall): Promise<Page<DeadLetter>>
  get(id: string): Promise<DeadLetter | null>
  replay(id: string, target: { readonly queue: string | null; readonly partition: string | null }): Promise<Redriven>
  replayAll(selection: DeadLetterSelection, dryRun: boolean): Promise<ReplayCount>
  purge(selection: DeadLetterSelection, dryRun: boolean): Promise<number>
}

const CAUSES: readonly DeadMessage['cause'][] = ['failed', 'crashed', 'forced', 'conflict']

function messageOf({ payload, group, cause, ...letter }: DeadLetter): DeadMessage {
  return {
    ...letter,
    data: payload === null ? null : JSON.parse(payload),
    text: payload,
    consumerGroup: group,
    cause: CAUSES.find((one) => one === cause) ?? 'failed',
  }
}

export function replayOutcome({ result, queue, partition, messageId, transactionId }: Redriven): ReplayOutcome {
  return result === 'moved'
    ? { success: true, queue, partition, messageId: messageId ?? '', transactionId: transactionId ?? '' }
    : { success: false, reason: result }
}

export function deadLettersClient(calls: DeadLetterCalls): DeadLetters {
  return {
    async list(options = {}) {
      const page = pageCall(options)
      const { entries, cut } = await calls.list(page)
      const more = cut || entries.length === page.limit
      return { messages: entries.map(messageOf), nextOffset: more ? page.offset + entries.length : null }
    },
    async get(id) {
      const letter = await calls.get(letterId(id))
      return letter === null ? null : messageOf(letter)
    },
    replay: async (id, target = {}) => replayOutcome(await calls.replay(letterId(id), targetCall(target))),
    async replayAll(queue, options = {}) {
      const { selection, dryRun } = bulkCall(queue, options)
      return calls.replayAll(selection, dryRun)
    },
    async purge(queue, options = {}) {
      const { selection, dryRun } = bulkCall(queue, options)
      return { deleted: await calls.purge(selection, dryRun) }
    },
  }
}
