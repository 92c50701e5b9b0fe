// Cancels open runs whose parent run was cancelled, has failed or was removed, each in a commit of its own: what a cancel
// that died half-way has left.
import type { Job } from './job.ts'

const PER_STEP = 100
const WHY = 'the run that started it has ended without it'

export function cancelOrphans(): Job {
  return {
    name: 'cancel_orphans',
    pauseMs: 5_000,
    async step(db) {
      const rows = await db.rows('select * from lockstep.orphan_runs($1)', [PER_STEP.toString()])
      for (const [runId] of rows) await db.rows('select lockstep.cancel_run($1::uuid, $2)', [runId ?? '', WHY])
      return { done: rows.length, more: rows.length === PER_STEP }
    },
  }
}
