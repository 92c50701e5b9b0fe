// Writes what a workflow looks like, so that SQL, HTTP and people know it without its code.
import type { Executor } from '../db/executor.ts'

export async function registerWorkflow(
  db: Executor,
  name: string,
  version: string,
  kind: 'action' | 'code' | 'graph',
  shape: string,
): Promise<void> {
  await db.rows('select lockstep.register_workflow($1, $2, $3, $4)', [name, version, kind, shape])
}
