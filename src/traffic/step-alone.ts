// A transaction that also submits runs or demands leases that none of its acks carries: all of it in one commit of its own, not
// joined with others. The first committed answer is remembered under the request id, so a repeat names the same runs. A key that
// is known with another input, or a demanded lease that is not live, undoes all.
import type { Executor } from '../db/executor.ts'
import type { Database } from '../db/pool.ts'
import { holdLeases } from '../operations/hold-leases.ts'
import { submit } from '../operations/submit.ts'
import { transaction } from '../operations/transaction.ts'
import { encodeTransaction } from '../protocol/answers.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { DecodedTransaction } from '../protocol/transaction-request.ts'
import { doneAlone, doneOnce } from './done-once.ts'
import type { Outcome, Request } from './done-once.ts'
import type { RunTraffic } from './run-traffic.ts'
import type { Traffic } from './traffic.ts'

async function perform(db: Executor, transactionId: string, step: DecodedTransaction): Promise<Outcome> {
  const { operations, kv, timers, runs, demandedLeases } = step
  const [result] =
    operations.length + kv.length + timers.length === 0
      ? [{ success: true as const, operations: [], kv: [], timers: [], replayed: false }]
      : await transaction(db, [{ requestId: null, bodyHash: null, operations, kv, timers }])
  if (result === undefined || result === 'deferred') throw new LockstepError('internal', 'a transaction has no answer')
  const earlier = !result.success && (result.reason === 'kv_precondition' || result.reason === 'rejected_ack')
  // Judged where acks are: before pushes and runs, whose losses do not matter then.
  const [dead] = earlier || demandedLeases.length === 0 ? [] : await holdLeases(db, demandedLeases)
  if (dead !== undefined) {
    const error = `the required lease '${dead}' is not live; everything was rolled back`
    const failed = { transactionId, success: false, reason: 'rejected_ack', error, results: [] }
    return { answer: JSON.stringify(failed), commit: false }
  }
  if (!result.success) return { answer: encodeTransaction(transactionId, step, result), commit: false }
  const submitted = runs.length === 0 ? [] : await submit(db, runs)
  const lost = submitted.findIndex((run) => run.differs)
  if (lost >= 0) {
    const error = `the key '${runs[lost]?.key ?? ''}' is known with another input`
    const failed = { transactionId, success: false, reason: 'run_conflict', failedIndex: lost, error, results: [] }
    return { answer: JSON.stringify(failed), commit: false }
  }
  return { answer: encodeTransaction(transactionId, step, result, submitted), commit: true }
}

export interface StepParts {
  readonly database: Database
  readonly traffic: Traffic
  readonly runs: RunTraffic
}

/** The answer as the wire has it. */
export async function stepAlone(
  { database, traffic, runs }: StepParts,
  request: Request | null,
  transactionId: string,
  step: DecodedTransaction,
): Promise<string> {
  const work = async (db: Executor): Promise<Outcome> => perform(db, transactionId, step)
  const { admission } = traffic
  const answer = await (request === null
    ? doneAlone(database, admission, work)
    : doneOnce(database, admission, request, work))
  for (const name of new Set(step.runs.map((run) => run.workflow))) runs.wake(name)
  for (const operation of step.operations) {
    if (operation.type === 'push') traffic.committed(operation.item.queue)
    else traffic.freed(operation.item)
  }
  return answer
}
