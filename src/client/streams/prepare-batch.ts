// The messages of one partition through everything before the state: the source's schema, the operators, the key, the time of the
// window. A message that fails here ends the batch in front of it, so that order is kept, and says by which ack it ends itself.
import { root, text } from '../../protocol/check.ts'
import type { AckItem, Delivery } from '../../protocol/message.ts'
import { ackOf } from '../consume/lane-batch.ts'
import { validMessage } from '../consume/valid-message.ts'
import { errorLine } from '../logger.ts'
import { through } from './outgoing.ts'
import type { SourceAt, StreamPlan } from './stream-plan.ts'
import { instantMs } from './windows.ts'

export interface Item {
  readonly value: unknown
  readonly key: string
  /** Epoch milliseconds: when it happened. */
  readonly time: number
}

/** A message and what the operators made of it. */
export interface Ready {
  readonly delivery: Delivery
  readonly at: SourceAt
  readonly items: readonly Item[]
  /** Nothing that comes behind it in its partition was stored before this instant, and nothing of what is waited for happened before. */
  readonly seen: number
}

export interface Failed {
  readonly ack: AckItem
  readonly error: unknown
  readonly delivery: Delivery
}

export interface Prepared {
  readonly ready: readonly Ready[]
  /** The message behind them, if one failed. */
  readonly failed: Failed | null
}

/** A state's key is longer by the kind and the window. */
const keyText = text({ max: 900 })

export function failedBy(delivery: Delivery, error: unknown): Failed {
  return { ack: ackOf(delivery, 'failed', errorLine(error)), error, delivery }
}

function keyOf(plan: StreamPlan, value: unknown, at: SourceAt): string {
  if (plan.key === null) return at.partition
  const key: unknown = plan.key(value, at)
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new TypeError(`keyBy must give text or a number; got ${key === null ? 'null' : typeof key}`)
  }
  return keyText.read(String(key), root(), 'key')
}

async function readyOf(plan: StreamPlan, delivery: Delivery, data: unknown): Promise<Ready> {
  const { partition, offset, transactionId, createdAt, deliveryAttempt } = delivery
  const at: SourceAt = { partition, offset, transactionId, createdAt, deliveryAttempt }
  const stored = instantMs(createdAt)
  const { window } = plan
  const items = (await through(plan.before, data, at)).map((value): Item => {
    const time = window === null || window.time === null ? stored : instantMs(window.time(value))
    return { value, key: keyOf(plan, value, at), time }
  })
  // A time of the caller's may run ahead of the database's clock: it closes no window before that has come.
  const latest = Math.max(...items.map(({ time }) => time))
  return { delivery, at, items, seen: window?.time === null || window === null ? stored : Math.min(stored, latest) }
}

export async function prepareBatch(
  plan: StreamPlan,
  consuming: Parameters<typeof validMessage>[0],
  deliveries: readonly Delivery[],
  signal: AbortSignal,
): Promise<Prepared> {
  const ready: Ready[] = []
  for (const delivery of deliveries) {
    if (signal.aborted) break
    const validated = await validMessage(consuming, delivery, signal)
    if (!validated.valid) {
      const ack = await validated.end()
      return { ready, failed: { ack, error: new TypeError(ack.error ?? 'invalid payload'), delivery } }
    }
    try {
      ready.push(await readyOf(plan, delivery, validated.message.data))
    } catch (error) {
      return { ready, failed: failedBy(delivery, error) }
    }
  }
  return { ready, failed: null }
}
