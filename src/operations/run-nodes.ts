// The nodes of a run with what they brought. Reads only.
import type { Executor } from '../db/executor.ts'
import type { ShownNode } from '../protocol/run.ts'

export async function runNodes(db: Executor, runId: string): Promise<readonly ShownNode[]> {
  const rows = await db.rows('select * from lockstep.run_nodes($1::uuid)', [runId])
  return rows.map(
    ([
      ordinal,
      name,
      kind,
      state,
      action,
      itemOf,
      itemKey,
      onFailure,
      attempt,
      output,
      error,
      progress,
      finishedAt,
    ]) => ({
      ordinal: Number(ordinal),
      name: name ?? '',
      kind: kind ?? 'node',
      state: state ?? '',
      action: action ?? null,
      itemOf: itemOf === null ? null : Number(itemOf),
      itemKey: itemKey ?? null,
      onFailure: onFailure ?? 'fail',
      attempt: Number(attempt),
      output: output ?? null,
      error: error ?? null,
      progress: progress ?? null,
      finishedAt: finishedAt ?? null,
    }),
  )
}
