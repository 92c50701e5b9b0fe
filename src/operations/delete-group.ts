// Forgets a group on one queue or on all: its cursors, its leases and, unless told to keep it, its registration.
import type { Executor } from '../db/executor.ts'

export interface GroupDeletion {
  readonly group: string
  /** Null: on every queue. */
  readonly queue: string | null
  /** False keeps the registration: the group starts again from where it was subscribed. */
  readonly metadata?: boolean
}

export async function deleteGroup(
  db: Executor,
  { group, queue, metadata = true }: GroupDeletion,
): Promise<{ readonly partitions: number; readonly queues: number }> {
  const params = [queue, group, String(metadata)]
  const [row] = await db.rows('select * from lockstep.delete_group($1, $2, $3::boolean)', params)
  return { partitions: Number(row?.[0] ?? 0), queues: Number(row?.[1] ?? 0) }
}
