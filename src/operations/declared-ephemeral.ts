// The ephemeral queues that were declared, with their options as JSON text.
import type { Executor } from '../db/executor.ts'
import { LIMITS } from '../protocol/limits.ts'

export async function declaredEphemeral(db: Executor): Promise<ReadonlyMap<string, string>> {
  const rows = await db.rows('select * from lockstep.declared_ephemeral($1::int)', [String(LIMITS.ephemeralQueues)])
  return new Map(rows.map(([name, options]) => [name ?? '', options ?? '{}']))
}
