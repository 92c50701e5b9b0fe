// Every pair of verbs at once in one world, in every order of their beginnings and commits: nobody fails, nothing is lost or
// stored twice, no lane is stuck, and PostgreSQL breaks no deadlock.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import type { Outcome } from '../kit/actor.ts'
import { inTransaction, interleave, type Specification } from '../kit/interleave.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { FIRST_NAMES, makeWorld, settle, VERBS, type Verb, type World } from '../kit/verbs.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const NEWEST = 18

// Three at once have 90 orders each: those that share most always, every combination in the long run.
const TRIPLES = [
  ['push to both partitions', 'ack', 'pop of a partition'],
  ['push to a new partition', 'first pop of a new group', 'staged push'],
  ['transaction', 'push to both partitions', 'unfenced repeated ack'],
  ['wildcard pop', 'release', 'push to both partitions'],
]

const all = Object.keys(VERBS)
const pairs = all.flatMap((one, at) => all.slice(at).map((other) => [one, other]))
const triples = LONG ? pairs.flatMap(([a = '', b = '']) => all.slice(all.indexOf(b)).map((c) => [a, b, c])) : TRIPLES

for (const one of all) {
  void test(`${one} runs beside every other verb in every order`, async (t) => {
    const own = await createTestDatabase(t)
    const wanted = await wantedOrders(own)
    let orders = 0
    for (const names of pairs.filter(([first]) => first === one))
      orders += await interleave(own, specification(names), wanted)
    assert.ok(orders > 0)
    await assertSound(own)
    assert.equal(await deadlocks(own), 0)
  })
}

void test('three verbs run at once in every order', async (t) => {
  const own = await createTestDatabase(t)
  const wanted = await wantedOrders(own)
  let orders = 0
  for (const names of triples) orders += await interleave(own, specification(names), wanted)
  assert.ok(orders > 0)
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})

// Every order in the long run. Else those in which all have begun before one commits, and on older servers one of them each.
async function wantedOrders({ database }: TestDatabase): Promise<(order: readonly number[]) => boolean> {
  if (LONG) return () => true
  const [row] = await database.reader.rows(`select current_setting('server_version_num')::int / 10000`, [])
  const newest = Number(row?.[0]) >= NEWEST
  return (order) => {
    const begun = order.slice(0, order.length / 2)
    return new Set(begun).size === begun.length && (newest || order.every((at, place) => at === place % begun.length))
  }
}

function specification(names: readonly string[]): Specification<World> {
  return {
    name: names.join(' | '),
    setup: makeWorld,
    sessions: names.map((name) => inTransaction(verb(name))),
    check: (world, told, own) => check(own, world, names, told),
  }
}

function verb(name: string): Verb {
  const found = VERBS[name]
  if (found === undefined) throw new Error(`no verb ${name}`)
  return found
}

async function check(
  own: TestDatabase,
  world: World,
  names: readonly string[],
  told: readonly (readonly Outcome[])[],
): Promise<void> {
  const pushed = told.flatMap(([work, commit], at) => {
    if (work === undefined || !('value' in work)) throw new Error(`${names[at]} failed: ${work?.error ?? 'not run'}`)
    if (commit === undefined || 'error' in commit) throw new Error(`${names[at]} did not commit`)
    return Array.isArray(work.value) ? work.value.map(String) : []
  })
  await assertSound(own, world.queue)
  const seen = await settle(own, world.queue)
  if (names.includes('deletion of the queue')) return
  assert.deepEqual(Object.values(seen).flat().toSorted(), [...FIRST_NAMES, ...pushed].toSorted())
  assert.deepEqual(seen['p1']?.slice(0, 3), ['m1', 'm2', 'm3'])
  await assertNothingLeft(own, world.queue)
}

async function assertNothingLeft(own: TestDatabase, queue: string): Promise<void> {
  const left = await own.database.pool.query(
    `select g.name, l.* from lockstep.lane l join lockstep.queue q on q.id = l.queue_id
       join lockstep.consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
       join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
      where q.name = $1 and (coalesce(l.committed, p.log_start) < p.next_offset or l.available_at is not null)`,
    [queue],
  )
  assert.deepEqual(left.rows, [], 'a lane has work left, or stays due for nothing')
}
