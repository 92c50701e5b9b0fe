// The vault of a client: one for all that it does, its own pool and the transactions that it joins.
import { createVault } from '../../db/vault/create-vault.ts'
import { readKeyRing } from '../../db/vault/key-ring.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Vault } from '../../protocol/vault.ts'

const vaults = new WeakMap<object, Vault>()

/** By the options object that the client was made with; undefined when it has no keys. */
export function vaultOf(options: object): Vault | undefined {
  const known = vaults.get(options)
  if (known !== undefined) return known
  const keys: unknown = Reflect.get(options, 'encryptionKeys')
  if (keys === undefined || keys === '') return undefined
  if (typeof keys !== 'string')
    throw new LockstepError('bad_request', 'encryptionKeys must be a text of name:key pairs')
  const vault = createVault(readKeyRing(keys))
  vaults.set(options, vault)
  return vault
}
