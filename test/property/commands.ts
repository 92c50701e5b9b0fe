// Random calls against the real thing, each judged by the model: its answer must be one that the model allows, and the model
// then takes the same step.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ack } from '../../src/operations/ack.ts'
import { extend } from '../../src/operations/extend.ts'
import { kv } from '../../src/operations/kv.ts'
import { push } from '../../src/operations/push.ts'
import { release } from '../../src/operations/release.ts'
import { stage } from '../../src/operations/stage.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { AckItem, PushItem } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { item, putOf, stepOf } from '../kit/speech.ts'
import { command, group, LEASE_S, partition, type Command, type Real } from './command.ts'
import type { Lease, Model, Said } from './model.ts'
import { Pop } from './pop-command.ts'

const name = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { freq: 3 })
const body = fc.constantFrom('1', '2')
const pushes = fc.array(fc.tuple(partition, name, body), { minLength: 1, maxLength: 4 })
const status = fc.constantFrom('completed', 'completed', 'completed', 'failed', 'retry', 'dlq') as fc.Arbitrary<
  Said['status']
>
/** Places in a leased batch (beyond it too) with what is said of each. */
const words = fc.oneof(
  fc.array(fc.record({ place: fc.nat({ max: 4 }), status }), { minLength: 1, maxLength: 4 }),
  // The first so many, as a worker acks what it popped.
  fc
    .integer({ min: 2, max: 5 })
    .map((last) => Array.from({ length: last }, (_, place) => ({ place, status: 'completed' as const }))),
)

function itemsOf(real: Real, drawn: readonly (readonly [string, string | null, string])[]): readonly PushItem[] {
  return drawn.map(([at, called, payload]) => item(real.queue, at, called, payload))
}

/** Judges the items one after the other and stores the new ones; gives what must be answered. */
function store(
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

const pick = (real: Real, at: number) => {
  // Mostly the latest ones.
  const one = real.leases[Math.max(real.leases.length - 1 - at, 0)]
  if (one === undefined) throw new Error('nothing was leased')
  return one
}

type Word = { readonly place: number; readonly status: Said['status'] }

function say(model: Model, lease: Lease, drawn: readonly Word[], byId: boolean): readonly Said[] {
  return drawn.map(({ place, status: said }) => {
    const offset = lease.from + place
    const message = model.log(lease.partition)[offset]
    return { offset, status: said, key: byId ? (message?.name ?? message?.id ?? 'unknown') : String(offset) }
  })
}

function itemsFor(
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
          told?.map((one) => ({ success: one.success, released: one.leaseReleased, dlq: one.dlq, noop: one.noop })),
          model.ack(leased.lease, fenced, said),
        )
        // Past the pause that a nack may have earned; far from the end of any lease.
        await moveClock(real.own, 2)
      },
      'leases',
    ),
  )

const Step = fc
  .tuple(fc.nat({ max: 1 }), fc.oneof(words, fc.constant([])), pushes, fc.constantFrom('right', 'stale', 'none'))
  .map(([at, drawn, pushed, expectation]) =>
    command(
      `step ${at} ${drawn.map((one) => `${one.place}:${one.status}`).join()} ${JSON.stringify(pushed)} ${expectation}`,
      async (model, real) => {
        const leased = pick(real, at)
        const { lease } = leased
        const said = say(model, lease, drawn, true)
        const items = itemsOf(real, pushed)
        const key = real.queue
        const version = real.versions.get(key)?.version ?? 0
        const expect = expectation === 'none' ? null : expectation === 'right' ? version : version + 1
        const step = stepOf({
          acks: itemsFor(leased, true, true, said),
          pushes: items,
          kv: [putOf('model', key, '1', expect)],
        })
        const [told] = await transaction(real.own.database, [step])
        assert.ok(told !== undefined && told !== 'deferred')
        const reason =
          expectation === 'stale'
            ? 'kv_precondition'
            : model.judge(lease, true, said).some((one) => one !== 'do')
              ? 'rejected_ack'
              : items.some((one) => model.known(one.partition, one.transactionId) !== null)
                ? 'duplicate'
                : null
        assert.equal(told.success ? null : told.reason, reason)
        if (told.success) {
          const answers = model.ack(lease, true, said)
          const stored = store(model, items)
          const expected = [
            ...answers.map((one) => [one.released, one.dlq]),
            ...stored.map((one) => [one.status, one.id, one.offset]),
          ]
          assert.deepEqual(
            told.operations.map((one) =>
              one.type === 'ack' ? [one.leaseReleased, one.dlq] : [one.status, one.messageId, one.offset],
            ),
            expected,
          )
          const [put] = told.kv
          assert.ok(put?.op === 'put' && put.applied && (put.version ?? 0) > version)
          real.versions.set(key, { value: '1', version: put.version ?? 0 })
        }
        const [answer] = await kv(real.own.database, [[{ op: 'get', ns: 'model', key }]])
        const row = answer?.ok ? answer.results[0] : undefined
        assert.equal(row?.op === 'get' && row.found ? row.row.version : 0, real.versions.get(key)?.version ?? 0)
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
