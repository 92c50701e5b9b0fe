// Keeps the options of an ephemeral queue.
import type { Executor } from '../db/executor.ts'

export async function declareEphemeral(db: Executor, queue: string, options: string): Promise<void> {
  await db.rows('select lockstep.declare_ephemeral($1::text, $2::text)', [queue, options])
}
