// Submit: makes runs, many in one statement and one commit.
import type { Executor } from '../db/executor.ts'
import { sqlstateOf } from '../db/pg-errors.ts'
import type { OutgoingRun, SubmittedRun } from '../protocol/run.ts'
import { LockstepError } from '../protocol/errors.ts'
import { plainJobs, type PlainJobs } from './plain-jobs.ts'
import { runLines } from './run-lines.ts'

const SUBMIT =
  'select * from lockstep.submit_joined($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::bigint[], $10::text[], $11::bigint[], $12::int[], $13::bigint[], $14::bigint[], $15::text[], $16::int[], $17::bigint[], $18::uuid[], $19::int[], $20::uuid[], $21::int[], $22::text[])'

const ENQUEUE =
  'select lockstep.enqueue_joined($1::uuid[], $2::text[], $3, $4::int, $5::bigint, $6::int, $7::bigint, $8::bigint)'

/** unique_violation */
const KNOWN = '23505'

/** False: one of the ids is being made by another call, or twice by this; nothing was made. */
async function enqueued(db: Executor, runs: readonly OutgoingRun[], plain: PlainJobs): Promise<boolean> {
  try {
    await db.rows(ENQUEUE, [runs.map((run) => run.runId), runs.map((run) => run.input), plain.action, ...plain.policy])
    return true
  } catch (error) {
    if (sqlstateOf(error) !== KNOWN) throw error
    return false
  }
}

/** The answers are aligned with the runs. */
export async function submit(db: Executor, runs: readonly OutgoingRun[]): Promise<readonly SubmittedRun[]> {
  if (runs.length === 0) return []
  const plain = plainJobs(runs)
  if (plain !== null && (await enqueued(db, runs, plain))) {
    return runs.map(({ runId }) => ({ runId, created: true, differs: false }))
  }
  const results = new Array<SubmittedRun | undefined>(runs.length)
  for (const [nth, runId, created, differs] of await db.rows(SUBMIT, runLines(runs))) {
    results[Number(nth) - 1] = { runId: runId ?? '', created: created === 't', differs: differs === 't' }
  }
  return results.map((result, at) => {
    if (result === undefined) throw new LockstepError('internal', `submit answered no row for run ${at}`)
    return result
  })
}
