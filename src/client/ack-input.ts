// From what a caller acknowledges to what travels. Group and lease are read off the message; another group than the
// message's own is refused here, because it would move somebody else's cursor.
import { root } from '../protocol/check.ts'
import { errorText } from '../protocol/names.ts'
import { LockstepError } from '../protocol/errors.ts'
import { QUEUE_MODE, type AckItem, type AckResult, type AckStatus } from '../protocol/message.ts'

/** true is completed, false is failed. */
export type AckVerb = AckStatus | boolean

/** A message, or the fields of one that were kept. Without a lease the ack is not fenced. */
export interface AckRef {
  readonly transactionId: string
  readonly partitionId: string
  readonly leaseId?: string | undefined
  readonly consumerGroup?: string | undefined
}

export interface AckOptions {
  readonly group?: string | undefined
  readonly consumerGroup?: string | undefined
  /** The reason of a failure; kept with the dead letter. */
  readonly error?: string | undefined
}

/** What became of one ack. Lost ones changed nothing. */
export type AckOutcome =
  | {
      readonly success: true
      readonly transactionId: string
      /** Everything of the batch is done, or was handed back. */
      readonly leaseReleased: boolean
      readonly deadLettered: boolean
      /** It had been completed before. */
      readonly noop: boolean
      /** Of a group that conflates: how many older messages the completed one stood for. */
      readonly conflated?: number
    }
  | {
      readonly success: false
      readonly transactionId: string
      readonly reason: 'lease_lost' | 'rejected'
      readonly error: string
    }

const STATUSES: ReadonlySet<unknown> = new Set<AckStatus>(['completed', 'failed', 'retry', 'dlq'])

function isStatus(value: unknown): value is AckStatus {
  return STATUSES.has(value)
}

function statusOf(verb: AckVerb): AckStatus {
  if (verb === true) return 'completed'
  if (verb === false) return 'failed'
  if (isStatus(verb)) return verb
  throw new LockstepError('bad_request', `unknown ack status ${JSON.stringify(verb)}: completed, failed, retry or dlq`)
}

function groupOf(ref: AckRef, options: AckOptions): string {
  const { group, consumerGroup } = options
  if (group !== undefined && consumerGroup !== undefined && group !== consumerGroup) {
    throw new LockstepError(
      'bad_request',
      `group '${group}' and consumerGroup '${consumerGroup}' are two names for one thing`,
    )
  }
  const said = group ?? consumerGroup
  if (said !== undefined && ref.consumerGroup !== undefined && said !== ref.consumerGroup) {
    throw new LockstepError(
      'bad_request',
      `message ${ref.transactionId} was delivered to group '${ref.consumerGroup}' and cannot be acked for group '${said}'`,
      { group: said, messageGroup: ref.consumerGroup },
    )
  }
  return said ?? ref.consumerGroup ?? QUEUE_MODE
}

function textField(ref: AckRef, name: 'transactionId' | 'partitionId'): string {
  const value: unknown = ref?.[name]
  if (typeof value === 'string' && value !== '') return value
  throw new LockstepError('bad_request', `an ack needs a message, or its ${name}`)
}

export function ackItem(ref: AckRef, verb: AckVerb = 'completed', options: AckOptions = {}): AckItem {
  return {
    transactionId: textField(ref, 'transactionId'),
    partitionId: textField(ref, 'partitionId'),
    offset: null,
    status: statusOf(verb),
    error: options.error === undefined ? null : errorText.read(options.error, root(), 'error'),
    leaseId: ref.leaseId === undefined || ref.leaseId === '' ? null : ref.leaseId,
    group: groupOf(ref, options),
  }
}

/** True for the engine's text about a lease that is no longer held. */
export function saysLeaseLost(error: string | null): boolean {
  return error !== null && /\blease\b/i.test(error)
}

export function ackOutcome(item: AckItem, result: AckResult): AckOutcome {
  const transactionId = item.transactionId ?? ''
  if (result.success) {
    return {
      success: true,
      transactionId,
      leaseReleased: result.leaseReleased,
      deadLettered: result.dlq,
      noop: result.noop,
      ...(result.conflated === undefined ? {} : { conflated: result.conflated }),
    }
  }
  const error = result.error ?? 'rejected'
  return { success: false, transactionId, reason: saysLeaseLost(error) ? 'lease_lost' : 'rejected', error }
}
