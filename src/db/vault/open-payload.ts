// A payload as it is shown or delivered: opened when it is sealed. Without keys at all the fault is the same as without the right one.
import { LockstepError } from '../../protocol/errors.ts'
import type { SealPlace, Vault } from '../../protocol/vault.ts'
import { isSealed, open } from './seal.ts'

export function openPayload(vault: Vault | undefined, place: SealPlace, payload: string): string {
  if (!isSealed(payload)) return payload
  return vault === undefined ? open(null, place, payload) : vault.open(place, payload)
}

export interface ShownPayload {
  /** Null when it cannot be opened here. */
  readonly payload: string | null
  readonly encrypted: boolean
}

/** For lists: one payload that does not open must not hide the rest. */
export function showPayload(vault: Vault | undefined, place: SealPlace, payload: string): ShownPayload {
  if (!isSealed(payload)) return { payload, encrypted: false }
  try {
    return { payload: openPayload(vault, place, payload), encrypted: true }
  } catch (error) {
    if (error instanceof LockstepError) return { payload: null, encrypted: true }
    throw error
  }
}
