// The way of every hot verb to PostgreSQL, used by the broker and by the client in process alike: joined with its like,
// through the gate, and followed by the bell that wakes parked pops of this process. It adds no meaning to a verb.
import type { Database } from '../db/pool.ts'
import { openTransaction } from '../db/transaction.ts'
import { ack } from '../operations/ack.ts'
import { extend } from '../operations/extend.ts'
import { pop } from '../operations/pop.ts'
import type { PopOutcome } from '../operations/pop.ts'
import { push } from '../operations/push.ts'
import { release } from '../operations/release.ts'
import { transaction } from '../operations/transaction.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { AckItem, AckResult, Delivery, PushItem, PushResult } from '../protocol/message.ts'
import type { PopWish } from '../protocol/pop-request.ts'
import type { TransactionRequest, TransactionResult } from '../protocol/transaction.ts'
import { createActivity } from './activity.ts'
import type { Activity } from './activity.ts'
import { createAdmission, RANK } from './admission.ts'
import type { Admission } from './admission.ts'
import { createFloors } from './floors.ts'
import type { Floors } from './floors.ts'
import { hintText } from './hint-text.ts'
import { createJoiner } from './join.ts'
import type { Joiner } from './join.ts'
import { createParking } from './parking.ts'
import type { Parking } from './parking.ts'
import { createQueueNames } from './queue-names.ts'
import { createStateTraffic, timerWeight } from './state-traffic.ts'
import type { StateTraffic } from './state-traffic.ts'
import { stepKeys } from './step-keys.ts'

export interface TrafficOptions {
  readonly database: Database
  /** Calls in flight at most; no more than the pool has connections. */
  readonly connections: number
  /** Joined calls in flight per verb. */
  readonly callsPerVerb?: number
  /** Told after something was committed that pops of this queue in other processes may be waiting for; as a hint's text. */
  readonly onCommitted?: (hint: string) => void
  /** Throws when nothing more may be leased now. */
  readonly demandRoom?: () => void
  /** Told of a fault that no caller hears of. */
  readonly onFault?: (what: string, error: unknown) => void
}

export interface Traffic extends Omit<StateTraffic, 'idle' | 'joiners'> {
  push(items: readonly PushItem[]): Promise<readonly PushResult[]>
  /** Resolves with [] when the time is over or the signal is aborted. `onConflict`: the group conflates, or does not, against the wish. */
  pop(
    wish: PopWish,
    waitMs: number,
    signal?: AbortSignal,
    onConflict?: (() => void) | null,
  ): Promise<readonly Delivery[]>
  ack(items: readonly AckItem[]): Promise<readonly AckResult[]>
  extend(leaseId: string, seconds: number): Promise<{ readonly renewed: number; readonly expiresAt: string | null }>
  /** Hands a lease back, uncounted; a fault is told to `onFault` and the lease lapses by itself. */
  handBack(leaseId: string, of?: { readonly queue: string; readonly group: string } | null): void
  /** Told of a commit that did not come this way: wakes the pops that wait for this queue, here and elsewhere. */
  committed(queue: string, partition?: string | null): void
  /** The same for what was pushed. */
  pushed(places: Iterable<{ readonly queue: string; readonly partition: string }>): void
  /** Told of a lease that was released elsewhere: its lane may have more for its group. */
  freed(item: AckItem): void
  transaction(step: TransactionRequest): Promise<TransactionResult>
  /** Takes no more pops, answers parked ones empty, resolves when what is in flight has ended. Idempotent. */
  drain(): Promise<void>
  readonly activity: Activity
  readonly parking: Parking
  readonly admission: Admission
  readonly floors: Floors
  readonly joiners: Readonly<Record<'push' | 'ack' | 'transaction', Joiner<never, unknown>>> & StateTraffic['joiners']
}

const PUSHED_ITEMS_PER_CALL = 1_000
const BYTES_PER_CALL = 8 * 1024 * 1024
const LINE_BYTES = LIMITS.bodyBytes * 2
const ACKS_PER_CALL = 2_000
/** More partitions than this of one queue in one call ring the queue as a whole. */
const RUNG_ONE_BY_ONE = 16
const STAGED_LOCK_MS = 250
const CALLS_PER_VERB = 2
/** 256 steps in flight with two calls leave a fifth of two cores idle. */
const WHOLE_CALLS = 4

export function createTraffic(options: TrafficOptions): Traffic {
  const { database, onFault = () => {}, onCommitted = () => {}, demandRoom = () => {} } = options
  const calls = options.callsPerVerb ?? CALLS_PER_VERB
  const most = Math.max(calls, Math.floor(options.connections / 2))
  const admission = createAdmission(options.connections, LIMITS.waitingCalls)
  const floors = createFloors()
  const names = createQueueNames()
  const activity = createActivity()
  let handingBack = 0
  const handedBack: (() => void)[] = []

  const parking = createParking({ look, handBack })

  async function look(
    wish: PopWish,
    leaseIds: readonly string[],
    waitStaged: boolean,
    heldMs: number,
  ): Promise<PopOutcome> {
    const floor = wish.partition === null ? floors.take(wish.queue, wish.group) : null
    const request = { ...wish, leaseIds, floor, waitStaged, heldMs: Math.min(heldMs, LIMITS.popTimeoutMs) }
    const outcome = await admission.enter(RANK.pop, async () => {
      demandRoom()
      if (waitStaged) return lookStaged(request)
      return wish.autoAck && database.vault ? lookWhole(request) : pop(database, request)
    })
    if (wish.partition === null) floors.put(wish.queue, wish.group, outcome.floor)
    for (const messages of outcome.answers) {
      const first = messages[0]
      if (first) names.learn(first.partitionId, wish.queue)
      activity.add(wish.queue, 'delivered', messages.length)
    }
    return outcome
  }

  /** Committed at delivery, and so only when every payload opens. */
  async function lookWhole(request: Parameters<typeof pop>[1]): Promise<PopOutcome> {
    const tx = await openTransaction(database)
    try {
      const outcome = await pop(tx, request)
      await tx.commit()
      return outcome
    } catch (error) {
      await tx.rollback()
      throw error
    }
  }

  /** Waits for the partition that holds back staged messages, for a moment; not having it in time is an empty look. */
  async function lookStaged(request: Parameters<typeof pop>[1]): Promise<PopOutcome> {
    const tx = await openTransaction(database, { ...database.timeouts, lockTimeoutMs: STAGED_LOCK_MS })
    try {
      const outcome = await pop(tx, request)
      await tx.commit()
      return outcome
    } catch (error) {
      await tx.rollback()
      if (!(error instanceof LockstepError) || error.code !== 'busy') throw error
      const answers = request.leaseIds.map(() => [])
      return { answers, floor: request.floor, again: 'no', conflation: request.conflation ?? false, dueInMs: null }
    }
  }

  function committed(queue: string, partition: string | null = null): void {
    parking.ring(queue, partition)
    onCommitted(hintText(queue, partition))
  }

  /** Rings by partition, so that whoever waits for another one sleeps on; for very many at once the whole queue. */
  function pushed(places: Iterable<{ readonly queue: string; readonly partition: string }>): void {
    const touched = new Map<string, Set<string>>()
    for (const { queue, partition } of places) {
      const partitions = touched.get(queue)
      if (partitions) partitions.add(partition)
      else touched.set(queue, new Set([partition]))
    }
    for (const [queue, partitions] of touched) {
      if (partitions.size > RUNG_ONE_BY_ONE) committed(queue)
      else for (const partition of partitions) committed(queue, partition)
    }
  }

  const pushes = createJoiner<readonly PushItem[], readonly PushResult[]>({
    calls,
    most,
    size: PUSHED_ITEMS_PER_CALL,
    weight: BYTES_PER_CALL,
    weightOf: pushWeight,
    line: LINE_BYTES,
    async run(lists) {
      const items = lists.length === 1 ? (lists[0] ?? []) : lists.flat()
      const results = await admission.enter(RANK.write, () => push(database, items))
      let at = 0
      const answers = lists.map((list) => {
        at += list.length
        return results.slice(at - list.length, at)
      })
      pushed(items)
      for (const [index, { queue }] of items.entries()) {
        if (results[index]?.status === 'queued') activity.add(queue, 'pushed', 1)
      }
      return answers
    },
  })

  const acks = createJoiner<readonly AckItem[], readonly AckResult[]>({
    calls,
    most,
    size: ACKS_PER_CALL,
    weight: ACKS_PER_CALL,
    weightOf: (items) => items.length,
    line: LIMITS.waitingCalls * ACKS_PER_CALL,
    async run(lists) {
      const answers = await admission.enter(RANK.ack, () => ack(database, lists))
      for (const [call, items] of lists.entries()) {
        for (const [index, item] of items.entries()) {
          const answer = answers[call]?.[index]
          if (answer?.leaseReleased === true) freed(item)
          if (answer?.success === true) settled(item)
        }
      }
      return answers
    },
  })

  /** A released lane may have more for its group. */
  function freed(item: AckItem): void {
    const queue = names.of(item.partitionId)
    if (queue !== null) parking.ring(queue, null, item.group)
  }

  function settled(item: AckItem): void {
    const queue = names.of(item.partitionId)
    if (queue !== null) activity.add(queue, item.status === 'completed' ? 'acked' : 'failed', 1)
  }

  const steps = createJoiner<TransactionRequest, TransactionResult>({
    calls,
    wholeCalls: Math.max(calls, WHOLE_CALLS),
    most,
    size: LIMITS.transactionsPerCall,
    weight: BYTES_PER_CALL,
    weightOf: stepWeight,
    line: LINE_BYTES,
    keysOf: stepKeys,
    async run(batch) {
      const results = await admission.enter(RANK.write, () => transaction(database, batch))
      for (const [index, step] of batch.entries()) {
        const result = results[index]
        if (result !== undefined && result !== 'deferred' && result.success) stepCommitted(step)
      }
      return results.map((result) => (result === 'deferred' ? 'again' : result))
    },
  })

  function stepCommitted(step: TransactionRequest): void {
    const items: PushItem[] = []
    for (const operation of step.operations) {
      if (operation.type === 'push') {
        items.push(operation.item)
        activity.add(operation.item.queue, 'pushed', 1)
      } else {
        freed(operation.item)
        settled(operation.item)
      }
    }
    pushed(items)
  }

  const states = createStateTraffic(database, admission, { calls, most, weight: BYTES_PER_CALL })

  function handBack(leaseId: string, of: { readonly queue: string; readonly group: string } | null = null): void {
    handingBack += 1
    admission
      .enter(RANK.ack, () => release(database, leaseId))
      .catch((error: unknown) => onFault('a lease could not be handed back and will lapse', error))
      .finally(() => {
        if (of === null) parking.ringAll()
        else parking.ring(of.queue, null, of.group)
        handingBack -= 1
        if (handingBack === 0) for (const resolve of handedBack.splice(0)) resolve()
      })
  }

  return {
    push: (items) => (items.length === 0 ? Promise.resolve([]) : pushes.join(items)),
    ack: (items) => (items.length === 0 ? Promise.resolve([]) : acks.join(items)),
    transaction: (step) => steps.join(step),
    kv: states.kv,
    locks: states.locks,
    timers: states.timers,
    extend: (leaseId, seconds) => admission.enter(RANK.ack, () => extend(database, leaseId, seconds)),
    handBack,
    committed,
    pushed,
    freed,

    pop(wish, waitMs, signal, onConflict = null) {
      if (signal?.aborted) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          ticket.cancel()
          resolve([])
        }
        const ticket = parking.wait(
          wish,
          waitMs,
          (messages, conflation) => {
            signal?.removeEventListener('abort', abort)
            if (conflation !== null && conflation !== wish.conflation) onConflict?.()
            resolve(messages)
          },
          (error) => {
            signal?.removeEventListener('abort', abort)
            reject(error instanceof Error ? error : new Error(String(error)))
          },
        )
        signal?.addEventListener('abort', abort, { once: true })
      })
    },

    async drain() {
      parking.close()
      await Promise.all([pushes.idle(), acks.idle(), steps.idle(), states.idle(), parking.idle()])
      if (handingBack > 0) await new Promise<void>((resolve) => handedBack.push(resolve))
    },

    activity,
    parking,
    admission,
    floors,
    joiners: { push: pushes, ack: acks, transaction: steps, ...states.joiners },
  }
}

function pushWeight(items: readonly PushItem[]): number {
  let weight = 0
  for (const item of items) weight += item.payload.length + 256
  return weight
}

function stepWeight(step: TransactionRequest): number {
  let weight = 256
  for (const { type, item } of step.operations) weight += type === 'push' ? item.payload.length + 256 : 256
  for (const operation of step.kv) weight += 'value' in operation ? operation.value.length + 256 : 256
  return weight + timerWeight(step.timers)
}
