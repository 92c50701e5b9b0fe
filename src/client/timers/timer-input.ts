// Timers as a caller writes them, turned into what travels: a queue (by name or declared, then its schema judges the data), a key,
// the delay, and the data as JSON text. The delay is counted by the database's clock from when it hears of it.
import { durationMs } from '../../protocol/durations.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { optional, readFields, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { DEFAULT_PARTITION } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { partitionName, timerKey, transactionIdText } from '../../protocol/names.ts'
import { jsonText } from '../../protocol/json-text.ts'
import { checkValue, issuesText } from '../../protocol/standard-schema.ts'
import { checkDelay, checkPayloadSize, timerFault } from '../../protocol/timer-request.ts'
import type { TimerOperation } from '../../protocol/timer.ts'
import type { Ttl } from '../expiry.ts'
import { definitionOf, type QueueDefinition } from '../queue-definition.ts'
import type { Untyped } from '../untyped.ts'

/** Exactly one of `delay` ('3d') and `delayMs`; at most 90 days, nothing below zero waits. */
export type Delay =
  | { readonly delay: Ttl; readonly delayMs?: never }
  | { readonly delayMs: number; readonly delay?: never }

export type TimerOptions = Delay & {
  readonly partition?: string | undefined
  /** Of the message; minted unless said. It is not judged for duplicates: one schedule is one delivery. */
  readonly transactionId?: string | undefined
}

export type TimerInput<In> = TimerOptions & { readonly key: string; readonly data: In }

/** A queue by its name, or declared. */
export type TimerQueue<In> = string | QueueDefinition<string, In, unknown>

/** A queue of whatever data. */
export type NamedQueue = string | QueueDefinition<string, Untyped, Untyped>

const KEY = { key: timerKey } as const
const OPTIONS = {
  partition: optional(partitionName, DEFAULT_PARTITION),
  transactionId: optional(transactionIdText, null),
} as const

function delayOf(options: TimerOptions): number {
  const { delay, delayMs }: Partial<Record<'delay' | 'delayMs', unknown>> = options ?? {}
  if ((delay === undefined) === (delayMs === undefined)) {
    throw timerFault('timers_bad_delay', "say exactly one of delay, like '3d', and delayMs")
  }
  if (delay !== undefined && typeof delay !== 'string')
    throw timerFault('timers_bad_delay', "delay must be text such as '3d'")
  const milliseconds = delay === undefined ? delayMs : durationMs(delay, 'delay')
  if (typeof milliseconds !== 'number' || !Number.isSafeInteger(milliseconds)) {
    throw timerFault('timers_bad_delay', `delayMs must be a whole number of at most ${LIMITS.timerHorizonMs}`)
  }
  return checkDelay(milliseconds)
}

function queueOf(given: TimerQueue<unknown>): QueueDefinition<string, unknown, unknown> {
  const definition = definitionOf(given)
  partitionName.read(definition.name, root(), 'queue')
  return definition
}

export async function scheduleOperation(
  queue: TimerQueue<unknown>,
  key: string,
  data: unknown,
  options: TimerOptions,
  path = 'data',
): Promise<TimerOperation> {
  const definition = queueOf(queue)
  const named = readFields(KEY, { key }, root())
  const { partition, transactionId } = readFields(OPTIONS, options, root())
  const delayMs = delayOf(options)
  if (definition.schema !== null) {
    const checked = await checkValue(definition.schema, data)
    if (!checked.valid) {
      const { issues } = checked
      const told = `${path} for queue '${definition.name}': ${issuesText(issues)}`
      throw new LockstepError('invalid_payload', told, { path, issues })
    }
  }
  const payload = jsonText(data, path)
  checkPayloadSize(payload)
  return {
    op: 'schedule',
    queue: definition.name,
    key: named.key,
    partition,
    delayMs,
    transactionId,
    payload,
    producerSub: null,
    messageId: mintId(),
  }
}

export async function scheduleOperations<In>(
  queue: TimerQueue<In>,
  timers: readonly TimerInput<In>[],
): Promise<readonly TimerOperation[]> {
  if (timers.length > LIMITS.timerOperations) {
    throw timerFault('timers_too_many_ops', `at most ${LIMITS.timerOperations} timers are scheduled at once`)
  }
  return Promise.all(
    timers.map((timer, index) => scheduleOperation(queue, timer.key, timer.data, timer, `timers[${index}].data`)),
  )
}

export function cancelOperation(queue: NamedQueue, key: string): TimerOperation {
  return { op: 'cancel', queue: queueOf(queue).name, ...readFields(KEY, { key }, root()), transactionId: null }
}
