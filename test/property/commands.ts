// Random calls against the real thing, each judged by the model: its answer must be one that the model allows, and the model
// then takes the same step.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ack } from '../../src/operations/ack.ts'
import { extend } from '../../src/operations/extend.ts'
import { push } from '../../src/operations/push.ts'
import { release } from '../../src/operations/release.ts'
import { stage } from '../../src/operations/stage.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import {
  command,
  group,
  itemsFor,
  itemsOf,
  LEASE_S,
  pick,
  pushes,
  say,
  store,
  words,
  type Command,
  type Real,
} from './command.ts'
import { Pop } from './pop-command.ts'
import { Step } from './step-command.ts'

const Push = pushes.map((drawn) =>
  command(`push ${JSON.stringify(drawn)}`, async (model, real) => {
    const items = itemsOf(real, drawn)
    const told = await push(real.own.database, items)
    assert.deepEqual(
      told.map((one) => ({ status: one.status, id: one.messageId, conflict: one.conflict, offset: one.offset })),
      store(model, items),
    )
  }),
)

const Stage = fc.tuple(pushes, fc.constantFrom('commit', 'rollback')).map(([drawn, end]) =>
  command(`stage ${JSON.stringify(drawn)} ${end}`, async (model, real) => {
    const items = itemsOf(real, drawn)
    await real.user.sql('begin')
    const told = await stage(real.user.door, items)
    await real.user.sql(end)
    if (end === 'rollback') return
    assert.deepEqual(
      told.map((one) => ({ status: one.status, id: one.messageId, conflict: one.conflict, offset: null })),
      store(model, items).map((one) => ({ ...one, offset: null })),
    )
    await drain(real.own, real.queue, 'placer', { autoAck: true })
  }),
)

const Ack = fc
  .tuple(fc.nat({ max: 3 }), fc.constantFrom(true, true, true, false), words, fc.boolean())
  .map(([at, fenced, drawn, byId]) =>
    command(
      `ack ${at}${fenced ? '' : ' unfenced'}${byId ? ' by id' : ''} ${drawn.map((one) => `${one.place}:${one.status}`).join()}`,
      async (model, real) => {
        const leased = pick(real, at)
        const said = say(model, leased.lease, drawn, byId)
        const [told] = await ack(real.own.database, [itemsFor(leased, fenced, byId, said)])
        assert.deepEqual(
          told?.map((one) => ({
            success: one.success,
            released: one.leaseReleased,
            dlq: one.dlq,
            noop: one.noop,
            conflated: one.conflated ?? null,
          })),
          model.ack(leased.lease, fenced, said),
        )
        // Past the pause that a nack may have earned; far from the end of any lease.
        await moveClock(real.own, 2)
      },
      'leases',
    ),
  )

const Extend = fc.nat({ max: 2 }).map((at) =>
  command(
    `extend ${at}`,
    async (model, real) => {
      const { lease } = pick(real, at)
      const { renewed } = await extend(real.own.database, lease.id, LEASE_S)
      const live = real.leases.filter((one) => one.lease.id === lease.id && model.held(one.lease) !== null).length
      assert.equal(renewed, live)
    },
    'leases',
  ),
)

const Release = fc.nat({ max: 2 }).map((at) =>
  command(
    `release ${at}`,
    async (model, real) => {
      const { lease } = pick(real, at)
      const released = await release(real.own.database, lease.id)
      const all = real.leases.filter((one) => one.lease.id === lease.id)
      assert.equal(
        released,
        all.reduce((sum, one) => sum + model.release(one.lease), 0),
      )
    },
    'leases',
  ),
)

const Lapse = fc.constant(0).map(() =>
  command('lapse', async (model, real) => {
    await moveClock(real.own, LEASE_S * 5)
    model.lapseAll()
  }),
)

const Seek = fc.tuple(group, fc.constantFrom('start', 'end')).map(([by, to]) =>
  command(`seek ${by} ${to}`, async (model, real) => {
    const start = to === 'start' ? '-infinity' : 'infinity'
    // Only of what is there: a queue is made by its first push or pop.
    await real.own.database.rows('select lockstep.seek_group($1, $2, $3::timestamptz)', [real.queue, by, start])
    model.seek(by, to === 'start' ? 'start' : 'end')
    real.floors.delete(by)
  }),
)

const Forget = group.map((by) =>
  command(`forget ${by}`, async (model, real) => {
    await real.own.database.rows('select lockstep.delete_group($1, $2)', [real.queue, by])
    model.groups.delete(by)
    model.conflating.delete(by)
    real.floors.delete(by)
  }),
)

/** Programs of up to `length` calls. */
export function programs(length: number): fc.Arbitrary<Iterable<Command>> {
  return fc.commands(
    [Push, Push, Stage, Pop, Pop, Pop, Ack, Ack, Ack, Step, Step, Extend, Release, Lapse, Seek, Forget],
    {
      maxCommands: length,
      size: 'max',
    },
  )
}

/** Fresh, for a queue that exists. */
export function realOf(own: TestDatabase, user: Actor): Real {
  return { own, user, queue: mintId(), leases: [], floors: new Map(), versions: new Map() }
}
