// Deletes a queue with all it holds: one short commit, after which its name is free and its leases are dead.
import type { Executor } from '../db/executor.ts'

export async function deleteQueue(db: Executor, name: string): Promise<{ readonly existed: boolean }> {
  const [row] = await db.rows('select lockstep.delete_queue($1)', [name])
  return { existed: row?.[0] === 't' }
}
