// What the random calls have in common: the real thing they are said to, and the shape that fast-check runs and prints.
import fc from 'fast-check'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from '../kit/actor.ts'
import type { AckItem, PushItem } from '../../src/protocol/message.ts'
import { item } from '../kit/speech.ts'
import type { Lease, Model, Said } from './model.ts'

export interface Real {
  readonly own: TestDatabase
  readonly user: Actor
  readonly queue: string
  /** All that was ever leased, with the id by which an ack names the partition. */
  readonly leases: { readonly lease: Lease; readonly partitionId: string }[]
  readonly floors: Map<string, string | null>
  readonly versions: Map<string, number>
}

export type Command = fc.AsyncCommand<Model, Real>

export const LEASE_S = 1000
export const partition = fc.constantFrom('p1', 'p2', 'p3')
export const group = fc.constantFrom('g', 'h', 'newest')

const name = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { freq: 3 })
const body = fc.constantFrom('1', '2')
export const pushes = fc.array(fc.tuple(partition, name, body), { minLength: 1, maxLength: 4 })
const status = fc.constantFrom('completed', 'completed', 'completed', 'failed', 'retry', 'dlq') as fc.Arbitrary<
  Said['status']
>
/** Places in a leased batch (beyond it too) with what is said of each. */
export const words = fc.oneof(
  fc.array(fc.record({ place: fc.nat({ max: 4 }), status }), { minLength: 1, maxLength: 4 }),
  // The first so many, as a worker acks what it popped.
  fc
    .integer({ min: 2, max: 5 })
    .map((last) => Array.from({ length: last }, (_, place) => ({ place, status: 'completed' as const }))),
)

export function command(
  text: string,
  run: (model: Model, real: Real) => Promise<void>,
  needs: 'leases' | 'nothing' = 'nothing',
): Command {
  return {
    check: () => true,
    run: (model, real) => (needs === 'leases' && real.leases.length === 0 ? Promise.resolve() : run(model, real)),
    toString: () => text,
  }
}

export function itemsOf(real: Real, drawn: readonly (readonly [string, string | null, string])[]): readonly PushItem[] {
  return drawn.map(([at, called, payload]) => item(real.queue, at, called, payload))
}

/** Judges the items one after the other and stores the new ones; gives what must be answered. */
export function store(
  model: Model,
  items: readonly PushItem[],
): readonly { status: string; id: string; conflict: boolean; offset: number | null }[] {
  return items.map((one) => {
    const first = model.known(one.partition, one.transactionId)
    if (first !== null)
      return { status: 'duplicate', id: first.id, conflict: first.payload !== one.payload, offset: null }
    const log = model.log(one.partition)
    log.push({ name: one.transactionId, id: one.messageId, payload: one.payload })
    return { status: 'queued', id: one.messageId, conflict: false, offset: log.length - 1 }
  })
}

export const pick = (real: Real, at: number): Real['leases'][number] => {
  // Mostly the latest ones.
  const one = real.leases[Math.max(real.leases.length - 1 - at, 0)]
  if (one === undefined) throw new Error('nothing was leased')
  return one
}

export type Word = { readonly place: number; readonly status: Said['status'] }

export function say(model: Model, lease: Lease, drawn: readonly Word[], byId: boolean): readonly Said[] {
  return drawn.map(({ place, status: said }) => {
    const offset = lease.from + place
    const message = model.log(lease.partition)[offset]
    return { offset, status: said, key: byId ? (message?.name ?? message?.id ?? 'unknown') : String(offset) }
  })
}

export function itemsFor(
  { lease, partitionId }: Real['leases'][number],
  fenced: boolean,
  byId: boolean,
  said: readonly Said[],
): readonly AckItem[] {
  return said.map((one) => ({
    status: one.status,
    partitionId,
    transactionId: byId ? one.key : null,
    offset: byId ? null : one.offset,
    error: null,
    leaseId: fenced ? lease.id : null,
    group: lease.group,
  }))
}
