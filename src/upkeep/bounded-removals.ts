// The removals that are one call each: a short transaction of the oldest rows that have had their time, again at once while a
// step found its fill. Several processes share the work.
import type { Job } from './job.ts'

/** Rows at most by one step. */
const LIMIT = 1_000

/** Without a limit the call knows its own bound. `full`: so many rows say that there may be more. */
function bounded(
  name: string,
  pauseMs: number,
  statement: string,
  limit: number | null = null,
  full = limit ?? 1,
): Job {
  const params = limit === null ? [] : [String(limit)]
  return {
    name,
    pauseMs,
    async step(db) {
      const [row] = await db.rows(statement, params)
      const done = Number(row?.[0] ?? 0)
      return { done, more: done >= full }
    },
  }
}

export const boundedRemovals: readonly Job[] = [
  // Fails runs whose deadline has passed. Whoever waits for one finds out by its poll.
  bounded('expire_runs', 1_000, 'select lockstep.expire_runs($1)', 100),
  // Limits of actions that are at rest: there is one per key, and keys come and go.
  bounded('remove_limits', 600_000, 'select lockstep.remove_limits($1)', 500),
  // Recorded answers after their 24 hours.
  bounded('expire_requests', 30_000, 'select lockstep.expire_requests()'),
  // Notes of destructive calls when their time is over.
  bounded('expire_audit', 60_000, 'select lockstep.expire_audit()'),
  // Settled slots of schedules after 30 days.
  bounded('remove_slots', 60_000, 'select lockstep.remove_slots($1::int)', LIMIT),
  // What reset streams remembered, one of them a step.
  bounded('remove_stream_state', 60_000, 'select lockstep.remove_stream_state($1::int)', LIMIT, 1),
  // What brokers did, and traces, after a week.
  bounded('remove_activity', 60_000, 'select lockstep.remove_activity($1::int)', LIMIT),
  bounded('remove_traces', 60_000, 'select lockstep.remove_traces($1::int)', LIMIT),
]
