// A foreign transaction's door with Lockstep's own refusals named. Every other error goes to the caller unchanged, as his
// transaction is his.
import type { Vault } from '../protocol/vault.ts'
import type { Door } from './executor.ts'
import { faultOf, sqlstateOf } from './pg-errors.ts'

/** Our own class, a transaction in which a statement had failed, a read-only one. */
const OURS = /^(?:LS|25P02$|25006$)/

/** The fault for what is ours; any other error as it is. */
export function foreignFault(error: unknown): unknown {
  return OURS.test(sqlstateOf(error) ?? '') ? faultOf(error, { commitSent: false }) : error
}

export function foreignDoor(door: Door, vault?: Vault): Door {
  return {
    vault,
    async text(statement, params) {
      try {
        return await door.text(statement, params)
      } catch (error) {
        throw foreignFault(error)
      }
    },
  }
}
