// Pops, alone and joined: what one delivers must be what its lanes had, and nothing may be left where there was room.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { pop } from '../../src/operations/pop.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { popOf } from '../kit/speech.ts'
import { command, group, LEASE_S, partition, type Command, type Real } from './command.ts'
import type { Model } from './model.ts'

interface Asked {
  readonly by: string
  readonly from: string | null
  readonly batch: number
  readonly partitions: number
  readonly autoAck: boolean
  /** So many pops in one call. */
  readonly joined: number
}

export const Pop: fc.Arbitrary<Command> = fc
  .record({
    by: group,
    from: fc.option(partition, { freq: 2 }),
    batch: fc.integer({ min: 1, max: 6 }),
    partitions: fc.integer({ min: 1, max: 3 }),
    autoAck: fc.constantFrom(false, false, true),
    joined: fc.constantFrom(1, 1, 2, 3),
  })
  .map((asked) => {
    const { by, from, batch, partitions, autoAck, joined } = asked
    const text = `pop ${joined} x ${by} ${from ?? '*'} ${batch}/${partitions}${autoAck ? ' auto' : ''}`
    return command(text, async (model, real) => {
      const over = {
        batch,
        partitions,
        autoAck,
        partition: from,
        leaseSeconds: LEASE_S,
        conflation: by === 'newest',
        floor: real.floors.get(by) ?? null,
      }
      const look = () =>
        pop(
          real.own.database,
          popOf(real.queue, by, { ...over, leaseIds: Array.from({ length: joined }, () => mintId()) }),
        )
      let outcome = await look()
      while (outcome.again !== 'no' && outcome.answers.flat().length === 0) outcome = await look()
      if (from === null) real.floors.set(by, outcome.floor)
      judgePop(model, real, asked, outcome.answers)
    })
  })

function judgePop(model: Model, real: Real, asked: Asked, answers: readonly (readonly Delivery[])[]): void {
  const { by, from, batch, partitions, joined } = asked
  if (!model.groups.has(by)) {
    model.groups.set(by, new Map())
    if (by === 'newest') model.conflating.add(by)
  }
  assert.equal(answers.length, joined)
  const lanesOf = (got: readonly Delivery[]): readonly string[] => [...new Set(got.map((one) => one.partition))]
  const taken = answers.flatMap(lanesOf)
  assert.equal(new Set(taken).size, taken.length, 'one lane was given to two of the pops')
  const full = answers.every((got) => got.length === batch || lanesOf(got).length === partitions)
  // A visited lane's lapse is charged; one that was not visited, because the pops were full, is not.
  for (const at of from === null ? model.partitions.keys() : [from]) {
    if (!taken.includes(at) && full) continue
    model.charge(by, at)
    if (!taken.includes(at)) assert.equal(model.deliverable(by, at), 0, `nothing of ${at}, though there was room`)
  }
  for (const got of answers) {
    assert.ok(got.length <= batch && lanesOf(got).length <= (from === null ? partitions : 1))
    let left = batch
    for (const at of lanesOf(got)) left -= judgeLane(model, real, asked, at, left, got)
  }
}

/** How many messages of the lane there had to be, where so many could still be taken. */
function judgeLane(
  model: Model,
  real: Real,
  { by, autoAck }: Asked,
  at: string,
  left: number,
  got: readonly Delivery[],
): number {
  const mine = got.filter((one) => one.partition === at)
  const cursor = model.next(by, at)
  const due = Math.min(model.deliverable(by, at), left)
  const expected = model.log(at).slice(cursor, cursor + due)
  assert.deepEqual(
    mine.map((one) => [one.offset, one.id, one.payload]),
    expected.map((one, nth) => [cursor + nth, one.id, one.payload]),
  )
  const times = model.deliver(by, at, due, autoAck ? null : (mine[0]?.leaseId ?? ''))
  const told = mine.map((one) => one.deliveryAttempt)
  assert.deepEqual(
    told,
    mine.map(() => times),
  )
  const { lease } = model.lane(by, at)
  if (lease !== null && !autoAck) real.leases.push({ lease, partitionId: mine[0]?.partitionId ?? '' })
  return due
}
