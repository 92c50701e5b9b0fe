// The lanes of one group, those with work first, at most a thousand per queue.
import type { Executor } from '../db/executor.ts'
import type { GroupLane } from '../protocol/group-info.ts'
import { LIMITS } from '../protocol/limits.ts'

export async function groupDetail(db: Executor, group: string): Promise<readonly GroupLane[]> {
  const rows = await db.rows('select * from lockstep.group_detail($1, $2::int)', [group, String(LIMITS.listLimit)])
  return rows.map(([queue, partition, leaseId, committed, behind, seconds, leased, expiresAt, ...counts]) => ({
    queue: queue ?? '',
    partition: partition ?? '',
    leaseId: leaseId ?? null,
    leaseActive: leased === 't',
    leaseExpiresAt: expiresAt ?? null,
    committed: typeof committed === 'string' ? Number(committed) : null,
    offsetLag: Number(behind),
    timeLagSeconds: Number(seconds ?? 0),
    failures: Number(counts[0]),
    crashes: Number(counts[1]),
    conflation: counts[2] === 't',
  }))
}
