// Processes with and without encryption keys on one database, and what lies at rest in it.
import { randomBytes } from 'node:crypto'
import { createVault } from '../../src/db/vault/create-vault.ts'
import { readKeyRing } from '../../src/db/vault/key-ring.ts'
import { openDatabase, type Database } from '../../src/db/pool.ts'
import { pop } from '../../src/operations/pop.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import type { TestDatabase, TestEnd } from '../../src/testing/database.ts'
import { popOf } from './speech.ts'

export const key = (): string => randomBytes(32).toString('base64')
export const encrypted = {
  namespace: null,
  task: null,
  mode: 'merge',
  options: { encryptionEnabled: true, retryDelay: 0 },
} as const

export function withKeys(t: TestEnd, own: TestDatabase, ring: string | null): Database {
  const vault = ring === null ? undefined : createVault(readKeyRing(ring))
  const database = openDatabase({ connectionString: own.connectionString, connections: 3, vault })
  t.after(() => database.close())
  return database
}

export const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no fault',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  )

export async function payloads(own: TestDatabase, table: string): Promise<readonly string[]> {
  const rows = await own.database.reader.rows(`select payload from lockstep.${table} order by 1`, [])
  return rows.map((row) => row[0] ?? '')
}

export const popAll = async (db: Database, queue: string, over: object = {}): Promise<readonly Delivery[]> =>
  (await pop(db, popOf(queue, 'g', over))).answers.flat()
