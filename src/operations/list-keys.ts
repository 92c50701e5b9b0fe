// The encryption keys that processes of this database have used. Names and marks; the keys themselves are nowhere here.
import type { Executor } from '../db/executor.ts'

const LIST = 'select * from lockstep.list_keys()'

export interface UsedKey {
  readonly id: string
  readonly mark: string
  readonly firstSeenAt: string
}

export async function listKeys(db: Executor): Promise<readonly UsedKey[]> {
  const rows = await db.rows(LIST, [])
  return rows.map((row) => ({ id: row[0] ?? '', mark: row[1] ?? '', firstSeenAt: row[2] ?? '' }))
}
