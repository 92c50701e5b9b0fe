// The keys of a command that works straight on the database: those that a broker of this environment would have.
import { withSecretFiles } from '../broker/secret-files.ts'
import { createVault } from '../db/vault/create-vault.ts'
import { readKeyRing } from '../db/vault/key-ring.ts'
import type { Vault } from '../protocol/vault.ts'

const SETTING = 'LOCKSTEP_ENCRYPTION_KEYS'

/** The text of the ring, or null. */
export function keysFrom(env: NodeJS.ProcessEnv): string | null {
  return withSecretFiles(env, [SETTING])[SETTING] || null
}

export function vaultFrom(env: NodeJS.ProcessEnv): Vault | undefined {
  const text = keysFrom(env)
  return text === null ? undefined : createVault(readKeyRing(text))
}
