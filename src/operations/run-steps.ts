// The steps that a run of code has recorded, oldest first. Reads only.
import type { Executor } from '../db/executor.ts'

export interface ShownStep {
  readonly name: string
  /** done | returned | failed | sleeping | waiting | heard | called */
  readonly state: string
  /** JSON; of one that failed its error is `error`. */
  readonly output: string | null
  readonly error: string | null
  /** Of a run of its own that it started. */
  readonly child: string | null
  readonly dueAt: string | null
  /** Its end has come: of a sleep and of a wait with a timeout. */
  readonly over: boolean
  readonly createdAt: string
}

const MOST = '1000'

export async function runSteps(db: Executor, runId: string): Promise<readonly ShownStep[]> {
  const rows = await db.rows('select * from lockstep.run_steps($1::uuid, $2::int)', [runId, MOST])
  return rows.map(([name, state, output, child, dueAt, over, createdAt]) => ({
    name: name ?? '',
    state: state ?? '',
    output: state === 'failed' ? null : (output ?? null),
    error: state === 'failed' ? (output ?? null) : null,
    child: child ?? null,
    dueAt: dueAt ?? null,
    over: over === 't',
    createdAt: createdAt ?? '',
  }))
}
