// Adds what this process did to the minute that is now.
import type { Executor } from '../db/executor.ts'

const RECORD = 'select lockstep.record_activity($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])'

interface Line {
  readonly queue: string
  readonly pushed: number
  readonly delivered: number
  readonly acked: number
  readonly failed: number
}

export async function recordActivity(db: Executor, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return
  await db.rows(RECORD, [
    lines.map((line) => line.queue),
    lines.map((line) => String(line.pushed)),
    lines.map((line) => String(line.delivered)),
    lines.map((line) => String(line.acked)),
    lines.map((line) => String(line.failed)),
  ])
}
