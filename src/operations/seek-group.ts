// Moves a group to a point in time, on all partitions of a queue in one short commit or on one of them. Its live leases
// end with it. A group never seen before is registered there.
import type { Executor } from '../db/executor.ts'
import type { SeekTarget } from '../protocol/group-info.ts'

export interface GroupSeek {
  readonly group: string
  readonly queue: string
  readonly to: SeekTarget
  /** Absent or null: the whole group. */
  readonly partition?: string | null
}

/** Partitions that moved; null when there is no such queue (or partition). */
export async function seekGroup(db: Executor, seek: GroupSeek): Promise<number | null> {
  const { group, queue, partition = null, to } = seek
  const start = to === 'start' ? '-infinity' : to === 'end' ? 'infinity' : to.timestamp
  if (partition === null) {
    const [row] = await db.rows('select lockstep.seek_group($1, $2, $3::timestamptz)', [queue, group, start])
    return typeof row?.[0] === 'string' ? Number(row[0]) : null
  }
  const params = [queue, group, partition, start]
  const [row] = await db.rows('select lockstep.seek_partition($1, $2, $3, $4::timestamptz)', params)
  return typeof row?.[0] === 'string' ? 1 : null
}
