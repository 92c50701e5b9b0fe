// Lists consumer groups with their backlog, of one queue or of all.
import type { Executor } from '../db/executor.ts'
import type { GroupInfo } from '../protocol/group-info.ts'

export async function listGroups(db: Executor, queue: string | null = null): Promise<readonly GroupInfo[]> {
  const rows = await db.rows('select * from lockstep.list_groups($1)', [queue])
  return rows.map(
    ([group, queueName, createdAt, mode, startsAt, cursors, pending, lanes, leased, seconds, conflation]) => ({
      group: group ?? '',
      queue: queueName ?? '',
      createdAt: createdAt ?? '',
      subscriptionMode: mode ?? '',
      startsAt: startsAt ?? null,
      cursors: Number(cursors),
      partitionsWithLag: Number(lanes),
      totalLag: Number(pending),
      leased: Number(leased),
      maxTimeLagSeconds: Number(seconds),
      conflation: conflation === 't',
    }),
  )
}
