// The way of key/value operations, locks and timers to PostgreSQL: each joined with its like and through the gate. Nobody waits
// in memory for what they change.
import type { Database } from '../db/pool.ts'
import { kv, onlyReads } from '../operations/kv.ts'
import { locks } from '../operations/locks.ts'
import { timers } from '../operations/timers.ts'
import type { KvAnswer, KvOperation } from '../protocol/kv.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { LockOperation, LockResult } from '../protocol/lock.ts'
import type { TimerOperation, TimerResult } from '../protocol/timer.ts'
import { RANK } from './admission.ts'
import type { Admission } from './admission.ts'
import { createJoiner } from './join.ts'
import type { Joiner, JoinOptions } from './join.ts'

export interface StateTraffic {
  readonly kv: (operations: readonly KvOperation[]) => Promise<KvAnswer>
  readonly locks: (operations: readonly LockOperation[]) => Promise<readonly LockResult[]>
  readonly timers: (operations: readonly TimerOperation[]) => Promise<readonly TimerResult[]>
  idle(): Promise<void>
  readonly joiners: Readonly<Record<'kv' | 'kvRead' | 'locks' | 'timers', Joiner<never, unknown>>>
}

const REQUESTS_PER_CALL = 64

export function createStateTraffic(
  database: Database,
  admission: Admission,
  { calls, most, weight }: Pick<JoinOptions<never, never>, 'calls' | 'most' | 'weight'>,
): StateTraffic {
  const size = REQUESTS_PER_CALL
  const common = { calls, ...(most === undefined ? {} : { most }), size }
  const pairs = {
    ...common,
    weight: LIMITS.kvOperations * 4,
    weightOf: kvWeight,
    line: LIMITS.waitingCalls * REQUESTS_PER_CALL,
  }
  const states = createJoiner<readonly KvOperation[], KvAnswer>({
    ...pairs,
    run: (lists) => admission.enter(RANK.write, () => kv(database, lists)),
  })
  // Apart from the writes: one that waits for a lock keeps no read waiting, and no read can end as "outcome unknown".
  const looks = createJoiner<readonly KvOperation[], KvAnswer>({
    ...pairs,
    run: (lists) => admission.enter(RANK.write, () => kv(database.reader, lists)),
  })
  const permits = createJoiner<readonly LockOperation[], readonly LockResult[]>({
    ...common,
    weight: LIMITS.lockOperations * 4,
    weightOf: (operations) => operations.length,
    line: LIMITS.waitingCalls * REQUESTS_PER_CALL,
    // Two operations on one lock in one call would take rows out of the one order.
    keysOf: (operations) => operations.map(({ name }) => name),
    run: (lists) => admission.enter(RANK.write, () => locks(database, lists)),
  })
  const alarms = createJoiner<readonly TimerOperation[], readonly TimerResult[]>({
    ...common,
    weight,
    weightOf: timerWeight,
    line: LIMITS.bodyBytes * 2,
    run: (lists) => admission.enter(RANK.write, () => timers(database, lists)),
  })
  return {
    kv(operations) {
      if (operations.length === 0) return Promise.resolve({ ok: true, results: [] })
      return (onlyReads(operations) ? looks : states).join(operations)
    },
    locks: (operations) => (operations.length === 0 ? Promise.resolve([]) : permits.join(operations)),
    timers: (operations) => (operations.length === 0 ? Promise.resolve([]) : alarms.join(operations)),
    async idle() {
      await Promise.all([states.idle(), looks.idle(), permits.idle(), alarms.idle()])
    },
    joiners: { kv: states, kvRead: looks, locks: permits, timers: alarms },
  }
}

/** In rows that may be read: a page of a prefix weighs as many operations as it may answer. */
function kvWeight(operations: readonly KvOperation[]): number {
  let weight = 0
  for (const operation of operations)
    weight +=
      operation.op === 'getMany' ? operation.keys.length + 1 : operation.op === 'getPrefix' ? operation.limit : 1
  return weight
}

/** In bytes. */
export function timerWeight(operations: readonly TimerOperation[]): number {
  let weight = 0
  for (const operation of operations) weight += operation.op === 'schedule' ? operation.payload.length + 256 : 256
  return weight
}
