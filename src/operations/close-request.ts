// Records the answer of a request id, last in the engine transaction that opened it: it is kept only if the work is.
import type { Executor } from '../db/executor.ts'

const CLOSE = 'select lockstep.close_request($1, $2)'

export async function closeRequest(db: Executor, id: string, result: string): Promise<void> {
  await db.rows(CLOSE, [id, result])
}
