// Encryption at rest: whether the keys of this environment are those that the database has seen. Names and marks only; no key is
// sent or printed.

import { readKeyRing } from '../../db/vault/key-ring.ts'
import type { Database } from '../../db/pool.ts'
import { listKeys } from '../../operations/list-keys.ts'
import type { Finding } from '../examine.ts'
import { keysFrom } from '../vault-from.ts'
import { fail, fine, warn } from './finding.ts'

export async function examineKeys(database: Database, env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const text = keysFrom(env)
  const ring = text === null ? [] : readKeyRing(text).all
  const seen = await listKeys(database.reader)
  const other = ring.find((key) => seen.some((known) => known.id === key.id && known.mark !== key.mark))
  if (other !== undefined) {
    const why = `the key ${other.id} of this environment is another one than the key of that name used on this database`
    return [fail('encryption', why, 'give the new key another name, and keep the old one behind it')]
  }
  const names = (keys: readonly { readonly id: string }[]): string => keys.map((key) => key.id).join(', ')
  if (seen.length === 0) {
    return [fine('encryption', ring.length === 0 ? 'no keys are in use' : `no process has used ${names(ring)} yet`)]
  }
  if (seen.some((known) => ring.some((key) => key.id === known.id))) {
    return [fine('encryption', `used on this database: ${names(seen)}; here: ${names(ring)}`)]
  }
  const hint = 'set LOCKSTEP_ENCRYPTION_KEYS where brokers, workers and commands run'
  return [warn('encryption', `none of the keys used on this database is here: ${names(seen)}`, hint)]
}
