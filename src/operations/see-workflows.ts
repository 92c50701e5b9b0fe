// Says that a live worker has these workflows and actions.
import type { Executor } from '../db/executor.ts'

export async function seeWorkflows(
  db: Executor,
  seen: readonly { readonly name: string; readonly version: string }[],
): Promise<void> {
  await db.rows('select lockstep.see_workflows($1::text[], $2::text[])', [
    seen.map((one) => one.name),
    seen.map((one) => one.version),
  ])
}
