// Locks and semaphores as data. A permit is a key/value row, and its token is that row's version: it rises with every holder
// and with every renewal, so that a stale one can be refused wherever it is checked.
import type { KvOperation } from './kv.ts'

export const LOCK_NAMESPACE = 'queen-locks'

export type LockOperation =
  | {
      readonly op: 'acquire'
      readonly name: string
      readonly ttlSeconds: number
      /** Who holds a permit is told it again; null is nobody in particular. */
      readonly owner: string | null
      /** 1 is a lock, more is a semaphore of so many permits. */
      readonly limit: number
    }
  | {
      readonly op: 'renew'
      readonly name: string
      readonly ttlSeconds: number
      readonly owner: string | null
      readonly token: number
      readonly slot: number
    }
  | { readonly op: 'release'; readonly name: string; readonly token: number; readonly slot: number }
  | { readonly op: 'get'; readonly name: string }

export interface LockHolder {
  readonly slot: number
  readonly owner: string | null
}

export interface LockPermit extends LockHolder {
  readonly token: number
  readonly since: string
  readonly expiresAt: string
  /** Null before the first renewal. */
  readonly renewedAt: string | null
}

export type LockResult =
  | {
      readonly op: 'acquire'
      readonly done: true
      readonly slot: number
      readonly token: number
      readonly already: boolean
    }
  | { readonly op: 'renew'; readonly done: true; readonly slot: number; readonly token: number }
  | { readonly op: 'release'; readonly done: true; readonly slot: number }
  | {
      readonly op: 'acquire' | 'renew' | 'release'
      readonly done: false
      readonly reason: 'held' | 'contended' | 'lost'
      readonly holders: readonly LockHolder[]
    }
  | { readonly op: 'get'; readonly holders: readonly LockPermit[] }

/** The key/value check that lets a step commit only while the permit is held. */
export function lockGuard(name: string, slot: number, token: number): Extract<KvOperation, { readonly op: 'check' }> {
  return { op: 'check', ns: LOCK_NAMESPACE, key: `${name}#${slot}`, expect: token, required: true }
}
