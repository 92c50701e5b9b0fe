// Locks and semaphores under interleavings: never two holders, expiry judged after the wait and by the database's clock, a guard
// that holds the permit to its commit, and no waiting where a refusal will do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locks } from '../../src/operations/locks.ts'
import type { LockOperation, LockResult } from '../../src/protocol/lock.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { moveClock } from '../kit/clock.ts'
import type { Outcome } from '../kit/actor.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { deadlocks } from '../kit/soundness.ts'

interface World {
  readonly name: string
  readonly token: number
}

const acquireOf = (name: string, owner: string, limit = 1): LockOperation => ({
  op: 'acquire',
  name,
  owner,
  limit,
  ttlSeconds: 60,
})
const renewOf = (name: string, token: number, owner: string | null = null): LockOperation => ({
  op: 'renew',
  name,
  token,
  owner,
  slot: 0,
  ttlSeconds: 60,
})

async function one(db: TestDatabase['database'], operation: LockOperation): Promise<LockResult> {
  const [[result] = []] = await locks(db, [[operation]])
  assert.ok(result)
  return result
}

const run =
  (operation: (world: World) => LockOperation): Step<World> =>
  async ({ db }, world) =>
    (await locks(db, [[operation(world)]]))[0]?.[0]

async function held(own: TestDatabase, nth: number): Promise<World> {
  const name = `l${nth}`
  const result = await one(own.database, acquireOf(name, 'first'))
  return { name, token: result.op === 'acquire' && result.done ? result.token : 0 }
}

const free = async (_: TestDatabase, nth: number): Promise<World> => ({ name: `l${nth}`, token: 0 })

function resultOf(told: readonly (readonly Outcome[])[], session: number): LockResult {
  const [outcome] = told[session] ?? []
  assert.ok(
    outcome !== undefined && 'value' in outcome,
    outcome !== undefined && 'error' in outcome ? outcome.error : '',
  )
  const value = outcome.value
  assert.ok(typeof value === 'object' && value !== null && 'op' in value)
  // Just what `run` gave.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as LockResult
}

const won = (result: LockResult): boolean => result.op !== 'get' && result.done

async function owners(own: TestDatabase, name: string): Promise<readonly string[]> {
  const result = await one(own.database, { op: 'get', name })
  return result.op === 'get'
    ? result.holders.map(({ owner }) => owner ?? '').toSorted((x, y) => x.localeCompare(y))
    : []
}

test('of two that want a lock one has it, and a permit that is given back or taken over has one owner', async (t) => {
  const own = await createTestDatabase(t)
  for (const limit of [1, 2]) {
    await interleave<World>(own, {
      name: `acquire | acquire, limit ${limit}`,
      setup: free,
      sessions: ['a', 'b'].map((owner) => inTransaction(run(({ name }) => acquireOf(name, owner, limit)))),
      async check({ name }, told) {
        const winners = ['a', 'b'].filter((_, at) => won(resultOf(told, at)))
        assert.deepEqual(await owners(own, name), limit === 1 ? winners.slice(0, 1) : winners)
        assert.ok(winners.length >= 1 && winners.length <= limit)
      },
    })
  }
  await interleave<World>(own, {
    name: 'one owner twice, limit 2',
    setup: free,
    sessions: [1, 2].map(() => inTransaction(run(({ name }) => acquireOf(name, 'me', 2)))),
    async check({ name }, told) {
      assert.ok(won(resultOf(told, 0)) && won(resultOf(told, 1)))
      assert.deepEqual(await owners(own, name), ['me'])
    },
  })
  await interleave<World>(own, {
    name: 'release | acquire',
    setup: held,
    sessions: [
      inTransaction(run(({ name, token }) => ({ op: 'release', name, token, slot: 0 }))),
      inTransaction(run(({ name }) => acquireOf(name, 'second'))),
    ],
    async check({ name }, told) {
      assert.ok(won(resultOf(told, 0)))
      assert.deepEqual(await owners(own, name), won(resultOf(told, 1)) ? ['second'] : [])
    },
  })
  await interleave<World>(own, {
    name: 'renew | release',
    setup: held,
    sessions: [
      inTransaction(run(({ name, token }) => renewOf(name, token))),
      inTransaction(run(({ name, token }) => ({ op: 'release', name, token, slot: 0 }))),
    ],
    async check({ name }, told) {
      const [renewed, released] = [won(resultOf(told, 0)), won(resultOf(told, 1))]
      assert.notEqual(renewed, released, 'whoever came first moved the token')
      assert.deepEqual(await owners(own, name), renewed ? ['first'] : [])
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('a renewal that waited past the expiry is lost, and whoever acquires then has a higher token', async (t) => {
  const own = await createTestDatabase(t)
  const { name, token } = await held(own, 0)
  await moveClock(own, 0)
  const { guard, late } = await openSessions(own, ['guard', 'late'])
  await guard.run('begin')
  await guard.run(`select applied from lockstep.kv_check('queen-locks', '${name}#0', ${token})`)
  const renewal = `select lockstep.lock_renew('${name}', ${token}, '60 seconds', p_owner => 'first')`
  assert.equal(await late.start(renewal), 'blocked')
  await moveClock(own, 61)
  const meanwhile = await one(own.database, acquireOf(name, 'second'))
  assert.deepEqual(
    [won(meanwhile), 'reason' in meanwhile && meanwhile.reason],
    [false, 'contended'],
    'a guard keeps the permit to its commit, and nobody waits for it',
  )
  await guard.run('commit')
  const lost = await late.result()
  assert.deepEqual('rows' in lost ? lost.rows : lost, [[null]])
  const second = await one(own.database, acquireOf(name, 'second'))
  assert.ok(second.op === 'acquire' && second.done && second.token > token)
})

test('whoever is refused a held lock waits for nobody, also while its holder is at it', async (t) => {
  const own = await createTestDatabase(t)
  const { name } = await held(own, 0)
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run(`select 1 from lockstep.kv where key = '${name}#0' for no key update`)
  const refused = await one(own.database, acquireOf(name, 'second'))
  assert.deepEqual('reason' in refused && refused.reason, 'held')
  const semaphore = await one(own.database, acquireOf(name, 'third', 2))
  assert.ok(semaphore.op === 'acquire' && semaphore.done && semaphore.slot === 1, 'its other permits are to be had')
  await holder.run('commit')
})

test('many owners at once over one semaphore: never more than its limit, and each permit is told once', async (t) => {
  const own = await createTestDatabase(t)
  const LIMIT = 4
  const taken = new Map<string, number>()
  let most = 0
  const working = async (owner: string): Promise<void> => {
    for (let round = 0; round < 3;) {
      const got = await one(own.database, acquireOf('s', owner, LIMIT))
      if (got.op !== 'acquire' || !got.done) continue
      assert.equal(got.already, false)
      taken.set(owner, got.slot)
      assert.equal(new Set(taken.values()).size, taken.size, 'two have one slot')
      most = Math.max(most, taken.size)
      taken.delete(owner)
      const back = await one(own.database, { op: 'release', name: 's', token: got.token, slot: got.slot })
      assert.ok(won(back))
      round += 1
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, n) => working(`o${n}`)))
  assert.ok(most <= LIMIT && most >= 1)
  assert.deepEqual(await owners(own, 's'), [])
})

test('calls over the same locks in opposite orders never deadlock', async (t) => {
  const own = await createTestDatabase(t)
  const names = ['a', 'a!', 'b']
  const call =
    (order: readonly string[], owner: string): Step<World> =>
    async ({ db }, world) =>
      locks(db, [order.map((name, at) => acquireOf(`${world.name}${name}`, owner, at === 1 ? 3 : 1))])
  await interleave<World>(own, {
    name: 'opposite orders',
    setup: free,
    sessions: [inTransaction(call(names, 'x')), inTransaction(call(names.toReversed(), 'y'))],
    async check(world, told) {
      for (const [outcome] of told) assert.ok(outcome !== undefined && 'value' in outcome)
      for (const name of ['a', 'b']) assert.equal((await owners(own, world.name + name)).length, 1)
    },
  })
  assert.equal(await deadlocks(own), 0)
})
