// From what a caller pushes to what travels: one item or an array, checked against the queue's schema, every item with a
// transaction id so that the same push arriving twice is stored once.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { LockstepError } from '../protocol/errors.ts'
import { DEFAULT_PARTITION, type PushResult } from '../protocol/message.ts'
import { mintId } from '../protocol/mint-id.ts'
import { jsonText } from './json-text.ts'
import { checkValue, issuesText } from './standard-schema.ts'
import type { OutgoingItem } from './transport.ts'

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

function given(name: string, value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw new LockstepError('bad_request', `${path}.${name} must be text`, { path })
  return value
}

async function outgoing(
  input: PushInput<unknown>,
  queue: string,
  partition: string | null,
  schema: StandardSchemaV1 | null,
  path: string,
): Promise<OutgoingItem> {
  if (typeof input !== 'object' || input === null) {
    throw new LockstepError('bad_request', `${path} must be an object with data`, { path })
  }
  if (schema !== null) {
    const checked = await checkValue(schema, input.data)
    if (!checked.valid) {
      const { issues } = checked
      throw new LockstepError('invalid_payload', `${path} for queue '${queue}': ${issuesText(issues)}`, {
        path,
        issues,
      })
    }
  }
  return {
    queue,
    partition: given('partition', input.partition, path) ?? partition ?? DEFAULT_PARTITION,
    transactionId: given('transactionId', input.transactionId, path) ?? mintId(),
    payload: jsonText(input.data, `${path}.data`),
    traceId: given('traceId', input.traceId, path),
  }
}

/** All items as they travel; the first that cannot is refused before anything is sent. */
export async function outgoingItems(
  items: PushInput<unknown> | readonly PushInput<unknown>[],
  queue: string,
  partition: string | null,
  schema: StandardSchemaV1 | null,
): Promise<readonly OutgoingItem[]> {
  const list: readonly PushInput<unknown>[] = Array.isArray(items) ? items : [items]
  return Promise.all(list.map((item, index) => outgoing(item, queue, partition, schema, `items[${index}]`)))
}

export function pushOutcome(result: PushResult): PushOutcome {
  const { transactionId, messageId, offset } = result
  if (result.status === 'error') return { status: 'rejected', reason: result.error ?? 'error', transactionId }
  return { status: result.conflict ? 'conflict' : result.status, transactionId, messageId, offset }
}
