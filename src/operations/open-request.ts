// Takes a request id inside an engine transaction, before anything else is done there. A recorded answer means that the
// work was committed before: the caller answers with it and does nothing.
import type { Executor } from '../db/executor.ts'

const OPEN = 'select lockstep.open_request($1, $2)'

/** The first committed answer of this id, or null. The same id with another body throws `request_conflict`. */
export async function openRequest(db: Executor, id: string, bodyHash: string): Promise<{ recorded: string | null }> {
  const [row] = await db.rows(OPEN, [id, bodyHash])
  return { recorded: row?.[0] ?? null }
}
