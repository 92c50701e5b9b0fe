// What must hold when some of the verbs run at once, each between BEGIN and COMMIT: nobody fails, what was pushed is there once
// and in order, every group reaches it, and no lane has work left or stays due for nothing.
import assert from 'node:assert/strict'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Outcome } from './actor.ts'
import { inTransaction, type Specification } from './interleave.ts'
import { assertSound } from './soundness.ts'
import { FIRST_NAMES, letGo, makeWorld, settle, VERBS, type Verb, type World } from './verbs.ts'

/** Those that share the most. */
export const LIVELY: readonly string[] = [
  'push to both partitions',
  'push to a new partition',
  'staged push',
  'wildcard pop',
  'ack',
  'transaction',
  'seek of the group',
  'deletion of the group',
]

/** Every choice of so many, in the order of the list, one verb also beside itself. */
export function sets(names: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]]
  return names.flatMap((one, at) => sets(names.slice(at), size - 1).map((rest) => [one, ...rest]))
}

/** All have begun before one commits, and they commit in the order in which they began. */
export function inTurn(order: readonly number[]): boolean {
  const half = order.length / 2
  return new Set(order.slice(0, half)).size === half && order.slice(half).every((at, place) => at === order[place])
}

export function specification(names: readonly string[]): Specification<World> {
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
  const gone = await letGo(own, world.queue)
  const seen = await settle(own, world.queue)
  if (names.includes('deletion of the queue')) return
  assert.deepEqual(
    [gone, seen].flatMap((by) => Object.values(by).flat()).toSorted(),
    [...FIRST_NAMES, ...new Set(pushed)].toSorted(),
  )
  assert.deepEqual([...(gone['p1'] ?? []), ...(seen['p1'] ?? [])].slice(0, 3), ['m1', 'm2', 'm3'])
  await assertNothingLeft(own, world.queue)
}

async function assertNothingLeft(own: TestDatabase, queue: string): Promise<void> {
  const left = await own.database.pool.query(
    `select g.name, l.* from lockstep.lane l join lockstep.queue q on q.id = l.queue_id
       join lockstep.consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
       join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
      where q.name = $1 and (l.available_at is not null or p.next_offset > coalesce(l.committed,
              (select min(m."offset") from lockstep.message m
                where m.queue_id = p.queue_id and m.partition_id = p.id and m."offset" >= p.log_start and m.created_at >= g.starts_at),
              p.next_offset))`,
    [queue],
  )
  assert.deepEqual(left.rows, [], 'a lane has work left, or stays due for nothing')
}
