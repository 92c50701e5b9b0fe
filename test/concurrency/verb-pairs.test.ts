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

// Those that share the most: their pairs run in every order on every change, the others' in the telling ones.
const LIVELY = [
  'push to both partitions',
  'push to a new partition',
  'staged push',
  'wildcard pop',
  'ack',
  'transaction',
  'seek of the group',
  'deletion of the group',
]
const TRIPLES = [
  ['push to both partitions', 'ack', 'pop of a partition'],
  ['push to a new partition', 'first pop of a new group', 'staged push'],
  ['transaction', 'push to both partitions', 'unfenced repeated ack'],
  ['wildcard pop', 'release', 'push to both partitions'],
]

const all = Object.keys(VERBS)
const pairs = sets(all, 2)

for (const one of all) {
  void test(`${one} runs beside every other verb, whoever begins and commits first`, async (t) => {
    const own = await createTestDatabase(t)
    const newest = await isNewest(own)
    let orders = 0
    for (const names of pairs.filter(([first]) => first === one)) {
      const lively = names.every((name) => LIVELY.includes(name))
      if (LONG || (newest && lively)) orders += await interleave(own, specification(names))
      else if (newest || lively || names[0] === names[1]) orders += await interleave(own, specification(names), inTurn)
    }
    assert.ok(orders > 0)
    await assertSound(own)
    assert.equal(await deadlocks(own), 0)
  })
}

void test('three verbs run at once, whoever begins and commits first', async (t) => {
  const own = await createTestDatabase(t)
  const wanted = LONG ? () => true : inTurn
  for (const names of LONG ? sets(LIVELY, 3) : TRIPLES)
    assert.ok((await interleave(own, specification(names), wanted)) > 0)
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})

/** Every choice of so many, in the order of the list, one verb also beside itself. */
function sets(names: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]]
  return names.flatMap((one, at) => sets(names.slice(at), size - 1).map((rest) => [one, ...rest]))
}

/** All have begun before one commits, and they commit in the order in which they began. */
function inTurn(order: readonly number[]): boolean {
  const half = order.length / 2
  return new Set(order.slice(0, half)).size === half && order.slice(half).every((at, place) => at === order[place])
}

async function isNewest({ database }: TestDatabase): Promise<boolean> {
  const [row] = await database.reader.rows(`select current_setting('server_version_num')::int / 10000`, [])
  return Number(row?.[0]) >= NEWEST
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
