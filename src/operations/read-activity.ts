// Reads what brokers did: per bucket of time, per queue, and what dead letters and silent partitions tell.
import type { Executor } from '../db/executor.ts'
import type { ActivityPoint, DeadLetterCause, QueueActivity, SilentPartition } from '../protocol/activity.ts'

const SERIES = 'select * from lockstep.activity_series($1::timestamptz, $2::timestamptz, $3::int, $4::text)'
const BY_QUEUE = 'select * from lockstep.activity_by_queue($1::int, $2::int)'
const CAUSES = 'select * from lockstep.dead_letter_causes($1::int)'
const LIVENESS = 'select * from lockstep.partition_liveness($1::int)'

export interface SeriesQuery {
  readonly from: string | null
  readonly to: string | null
  readonly bucketMinutes: number
  readonly queue: string | null
}

export async function activitySeries(db: Executor, query: SeriesQuery): Promise<readonly ActivityPoint[]> {
  const { from, to, bucketMinutes, queue } = query
  const rows = await db.rows(SERIES, [from, to, String(bucketMinutes), queue])
  return rows.map(([at, ...counts]) => ({ at: at ?? '', ...countsOf(counts) }))
}

export async function activityByQueue(db: Executor, minutes: number, limit: number): Promise<readonly QueueActivity[]> {
  const rows = await db.rows(BY_QUEUE, [String(minutes), String(limit)])
  return rows.map(([queue, ...counts]) => ({ queue: queue ?? '', ...countsOf(counts) }))
}

function countsOf([pushed, delivered, acked, failed]: readonly (string | null)[]): Omit<QueueActivity, 'queue'> {
  return { pushed: Number(pushed), delivered: Number(delivered), acked: Number(acked), failed: Number(failed) }
}

export async function deadLetterCauses(db: Executor, limit: number): Promise<readonly DeadLetterCause[]> {
  const rows = await db.rows(CAUSES, [String(limit)])
  return rows.map(([queue, group, cause, error, letters, firstAt, lastAt]) => ({
    queue: queue ?? '',
    group: group ?? '',
    cause: cause ?? '',
    error: error ?? '',
    letters: Number(letters),
    firstAt: firstAt ?? '',
    lastAt: lastAt ?? '',
  }))
}

export async function silentPartitions(db: Executor, limit: number): Promise<readonly SilentPartition[]> {
  const rows = await db.rows(LIVENESS, [String(limit)])
  return rows.map(([queue, partition, lastPushedAt, messages]) => ({
    queue: queue ?? '',
    partition: partition ?? '',
    lastPushedAt: lastPushedAt ?? null,
    messages: Number(messages),
  }))
}
