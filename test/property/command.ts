// What the random calls have in common: the real thing they are said to, and the shape that fast-check runs and prints.
import fc from 'fast-check'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from '../kit/actor.ts'
import type { Lease, Model } from './model.ts'

export interface Real {
  readonly own: TestDatabase
  readonly user: Actor
  readonly queue: string
  /** All that was ever leased, with the id by which an ack names the partition. */
  readonly leases: { readonly lease: Lease; readonly partitionId: string }[]
  readonly floors: Map<string, string | null>
  readonly versions: Map<string, { value: string; version: number }>
}

export type Command = fc.AsyncCommand<Model, Real>

export const LEASE_S = 1000
export const partition = fc.constantFrom('p1', 'p2', 'p3')
export const group = fc.constantFrom('g', 'h')

export function command(
  text: string,
  check: (model: Model, real: Real) => Promise<void>,
  needs: 'leases' | null = null,
): Command {
  let leased = false
  return {
    check: () => needs === null || leased || (leased = true),
    run: (model, real) => (needs === 'leases' && real.leases.length === 0 ? Promise.resolve() : check(model, real)),
    toString: () => text,
  }
}
