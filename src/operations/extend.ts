// Extend: moves the end of a live lease forward, never brings a lapsed one back.
import type { Executor } from '../db/executor.ts'

/** `renewed` counts the lanes leased under this id that were still live; `expiresAt` is the latest new end. */
export async function extend(
  db: Executor,
  leaseId: string,
  seconds: number,
): Promise<{ readonly renewed: number; readonly expiresAt: string | null }> {
  const [row] = await db.rows('select * from lockstep.extend($1, $2::int)', [leaseId, String(seconds)])
  return { renewed: Number(row?.[0] ?? 0), expiresAt: row?.[1] ?? null }
}
