// Forgets the options of an ephemeral queue; true when it was declared.
import type { Executor } from '../db/executor.ts'

export async function forgetEphemeral(db: Executor, queue: string): Promise<boolean> {
  const [row] = await db.rows('select lockstep.forget_ephemeral($1::text)', [queue])
  return row?.[0] === 't'
}
