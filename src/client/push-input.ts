// From what a caller pushes to what travels: one item or an array, checked against the queue's schema, every item that may
// arrive twice with a transaction id, so that it is stored once.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { optional, readFields, root } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import { DEFAULT_PARTITION, type PushResult } from '../protocol/message.ts'
import { mintId } from '../protocol/mint-id.ts'
import { partitionName, traceIdText, transactionIdText } from '../protocol/names.ts'
import { utf8Length } from '../protocol/utf8.ts'
import { jsonText } from '../protocol/json-text.ts'
import { checkValue, issuesText } from '../protocol/standard-schema.ts'
import type { OutgoingItem, StagedItem } from './transport.ts'

export interface PushInput<In> {
  readonly data: In
  /** Default: minted. A repeat in the same partition within the queue's window is answered `duplicate`. */
  readonly transactionId?: string | undefined
  readonly traceId?: string | undefined
  /** Over the builder's partition. */
  readonly partition?: string | undefined
}

/** What became of one item. A `conflict` is a known transaction id with another payload: nothing was stored. */
export type PushOutcome =
  | {
      readonly status: 'queued' | 'duplicate' | 'conflict'
      readonly transactionId: string
      /** Of the first message with that transaction id, when it was known. */
      readonly messageId: string
      /** Null for a push inside an open transaction: the offset is given when it is placed. */
      readonly offset: number | null
    }
  | { readonly status: 'rejected'; readonly reason: string; readonly transactionId: string }

const FIELDS = {
  partition: optional(partitionName, null),
  transactionId: optional(transactionIdText, null),
  traceId: optional(traceIdText, null),
} as const

function payloadText(data: unknown, path: string): string {
  const text = jsonText(data, path)
  if (text.length * 3 > LIMITS.payloadBytes && utf8Length(text) > LIMITS.payloadBytes) {
    throw new LockstepError('payload_too_large', `${path} must be at most ${LIMITS.payloadBytes} bytes`, { path })
  }
  return text
}

/** A payload that its queue's schema lets through, as the text that travels. */
export async function payloadOf(
  data: unknown,
  queue: string,
  schema: StandardSchemaV1 | null,
  path: string,
): Promise<string> {
  if (schema !== null) {
    const checked = await checkValue(schema, data)
    if (!checked.valid) {
      const { issues } = checked
      throw new LockstepError('invalid_payload', `${path} for queue '${queue}': ${issuesText(issues)}`, {
        path,
        issues,
      })
    }
  }
  return payloadText(data, `${path}.data`)
}

async function staged(
  input: PushInput<unknown>,
  queue: string,
  partition: string | null,
  schema: StandardSchemaV1 | null,
  path: string,
): Promise<StagedItem> {
  const given = readFields(FIELDS, input, { parent: root(), step: path })
  return {
    queue,
    partition: given.partition ?? partition ?? DEFAULT_PARTITION,
    transactionId: given.transactionId,
    payload: await payloadOf(input.data, queue, schema, path),
    traceId: given.traceId,
  }
}

/** All items as they are staged in an open transaction; the first that cannot is refused before anything is sent. */
export async function stagedItems(
  items: PushInput<unknown> | readonly PushInput<unknown>[],
  queue: string,
  partition: string | null,
  schema: StandardSchemaV1 | null,
): Promise<readonly StagedItem[]> {
  const list: readonly PushInput<unknown>[] = Array.isArray(items) ? items : [items]
  if (list.length > LIMITS.pushItems) {
    throw new LockstepError('bad_request', `at most ${LIMITS.pushItems} items are pushed at once; got ${list.length}`)
  }
  return Promise.all(list.map((item, index) => staged(item, queue, partition, schema, `items[${index}]`)))
}

/** The same for a way on which a repeat is possible: each with a transaction id. */
export async function outgoingItems(...input: Parameters<typeof stagedItems>): Promise<readonly OutgoingItem[]> {
  const items = await stagedItems(...input)
  return items.map((item) => ({ ...item, transactionId: item.transactionId ?? mintId() }))
}

export function pushOutcome(result: PushResult): PushOutcome {
  const { transactionId, messageId, offset } = result
  if (result.status === 'error') return { status: 'rejected', reason: result.error ?? 'error', transactionId }
  return { status: result.conflict ? 'conflict' : result.status, transactionId, messageId, offset }
}
