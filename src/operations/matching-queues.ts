// Names of the queues that a discovery pop looks at, highest priority first.
import type { Executor } from '../db/executor.ts'

export async function matchingQueues(
  db: Executor,
  { namespace, task }: { readonly namespace: string | null; readonly task: string | null },
): Promise<readonly string[]> {
  const rows = await db.rows('select * from lockstep.matching_queues($1, $2)', [namespace, task])
  return rows.map(([name]) => name ?? '')
}
