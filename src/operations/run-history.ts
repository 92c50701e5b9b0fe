// What a run of code has done already. Reads only.
import type { Executor } from '../db/executor.ts'
import type { RecordedStep } from '../protocol/run.ts'

export async function runHistory(db: Executor, runId: string): Promise<readonly RecordedStep[]> {
  const rows = await db.rows('select * from lockstep.run_history($1::uuid)', [runId])
  return rows.map(([name, state, due, ordinal, output, error]) => ({
    name: name ?? '',
    state: state ?? '',
    due: due === 't',
    ordinal: ordinal === null ? null : Number(ordinal),
    output: output ?? null,
    error: error ?? null,
  }))
}
