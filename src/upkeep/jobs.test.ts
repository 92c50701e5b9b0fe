// Upkeep, job by job: what is due is done in bounded steps, what somebody holds is left for the next look, what lives stays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { openSessions } from '../testing/sessions.ts'
import { expireKv } from './expire-kv.ts'
import type { Job } from './job.ts'
import { placeStaged } from './place-staged.ts'
import { jobNamed } from '../../test/kit/job-named.ts'
import { removeQueues } from './remove-queues.ts'

/** Steps until one says that nothing is left; how much each did. */
async function stepped({ database }: TestDatabase, job: Job): Promise<readonly number[]> {
  const steps: number[] = []
  for (;;) {
    const { done, more } = await job.step(database)
    steps.push(done)
    assert.ok(steps.length < 200, `${job.name} does not end`)
    if (!more) return steps
  }
}

const total = (steps: readonly number[]): number => steps.reduce((a, b) => a + b, 0)

async function cell({ database }: TestDatabase, query: string): Promise<string | null> {
  return (await database.rows(query, []))[0]?.[0] ?? null
}

/** Stages as a user does: the scalar push, in a transaction of his own. */
async function stage(own: TestDatabase, queue: string, partition: string, count: number): Promise<void> {
  await own.database.rows(
    `select lockstep.push($1, json_build_object('n', n), $2) from generate_series(1, $3::int) n`,
    [queue, partition, String(count)],
  )
}

/** A queue with a group, lanes, messages and dead letters. */
async function fill(own: TestDatabase, queue: string, partitions: number, each: number): Promise<void> {
  for (let from = 0; from < partitions; from += 100) {
    await own.database.rows(
      `select count(*) from lockstep.push_joined(
         array_fill($1::text, array[$2::int * $3::int]),
         array(select 'p' || (n % $2::int + $4::int) from generate_series(1, $2::int * $3::int) n),
         array(select gen_random_uuid()::text from generate_series(1, $2::int * $3::int)),
         array_fill('{}'::text, array[$2::int * $3::int]),
         array_fill(null::text, array[$2::int * $3::int]), array_fill(null::text, array[$2::int * $3::int]),
         array(select gen_random_uuid() from generate_series(1, $2::int * $3::int)))`,
      [queue, String(Math.min(100, partitions - from)), String(each), String(from)],
    )
  }
  await own.database.rows('select * from lockstep.seek_group($1, $2, $3::timestamptz)', [queue, 'g', '-infinity'])
  await own.database.rows(
    `insert into lockstep.lane (queue_id, group_id, partition_id, committed, available_at)
     select p.queue_id, g.id, p.id, 0, lockstep.clock() from lockstep.queue q
     join lockstep.partition p on p.queue_id = q.id join lockstep.consumer_group g on g.queue_id = q.id
     where q.name = $1 and q.deleted_at is null on conflict do nothing`,
    [queue],
  )
  await own.database.rows(
    `insert into lockstep.dead_letter (queue_id, id, partition_id, partition_name, group_name, message_id, transaction_id,
       tx_hash, payload, cause, error, failures, crashes, created_at, failed_at)
     select q.id, gen_random_uuid(), 1, 'p', 'g', gen_random_uuid(), 't', 1, '{}', 'failed', '', 1, 0, lockstep.clock(), lockstep.clock()
     from lockstep.queue q, generate_series(1, 20) where q.name = $1 and q.deleted_at is null`,
    [queue],
  )
}

const CONTENT = ['message', 'partition', 'lane', 'dead_letter', 'consumer_group']

async function content(own: TestDatabase, queueId: string | null): Promise<readonly (string | null)[]> {
  return Promise.all(
    CONTENT.map((table) => cell(own, `select count(*) from lockstep.${table} where queue_id = ${queueId}`)),
  )
}

const idOf = (own: TestDatabase, queue: string): Promise<string | null> =>
  cell(own, `select id from lockstep.queue where name = '${queue}' and deleted_at is null`)

test('staged pushes of queues that nobody visits get their offsets in their order, and their waiters are told', async (t) => {
  const own = await createTestDatabase(t)
  await stage(own, 'b', 'x', 3)
  await stage(own, 'a', 'y', 2)
  await stage(own, 'a', 'x', 2)
  await stage(own, 'b', 'x', 2)
  const told: string[] = []
  assert.equal(
    total(
      await stepped(
        own,
        placeStaged((queue) => told.push(queue)),
      ),
    ),
    9,
  )
  assert.deepEqual(told, ['a', 'b'])
  const rows = await own.database.rows(
    `select q.name, p.name, array_agg(m.payload::json ->> 'n' order by m."offset"), min(m."offset"), p.next_offset
     from lockstep.message m join lockstep.queue q on q.id = m.queue_id
     join lockstep.partition p on p.queue_id = q.id and p.id = m.partition_id group by q.name, p.name, p.next_offset order by 1, 2`,
    [],
  )
  assert.deepEqual(rows, [
    ['a', 'x', '{1,2}', '0', '2'],
    ['a', 'y', '{1,2}', '0', '2'],
    ['b', 'x', '{1,2,3,1,2}', '0', '5'],
  ])
  assert.deepEqual(
    await stepped(
      own,
      placeStaged(() => assert.fail('nothing was placed')),
    ),
    [0],
  )
})

test('a visit places at most a thousand; the rest follows at once', async (t) => {
  const own = await createTestDatabase(t)
  await stage(own, 'q', 'x', 2500)
  const steps = await stepped(
    own,
    placeStaged(() => {}),
  )
  assert.deepEqual(steps.slice(0, 3), [1000, 1000, 500])
  assert.equal(await cell(own, 'select next_offset from lockstep.partition'), '2500')
})

test('a partition that somebody holds is left for the next look, the others are placed without waiting', async (t) => {
  const own = await createTestDatabase(t)
  await stage(own, 'q', 'held', 1)
  await stepped(
    own,
    placeStaged(() => {}),
  )
  await stage(own, 'q', 'held', 2)
  await stage(own, 'q', 'free', 3)
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run(`select 1 from lockstep.partition where name = 'held' for no key update`)
  assert.equal(
    total(
      await stepped(
        own,
        placeStaged(() => {}),
      ),
    ),
    3,
  )
  await holder.run('commit')
  assert.equal(
    total(
      await stepped(
        own,
        placeStaged(() => {}),
      ),
    ),
    2,
  )
})

test('what an open transaction staged is not seen, and what it staged before its queue was deleted comes after', async (t) => {
  const own = await createTestDatabase(t)
  await stage(own, 'q', 'x', 1)
  await stepped(
    own,
    placeStaged(() => {}),
  )
  const { user } = await openSessions(own, ['user'])
  await user.run('begin')
  await user.run(`select lockstep.push('q', '{}', 'x')`)
  assert.equal(
    total(
      await stepped(
        own,
        placeStaged(() => {}),
      ),
    ),
    0,
  )
  await own.database.rows(`select lockstep.delete_queue('q')`, [])
  await user.run('commit')
  assert.equal(
    total(
      await stepped(
        own,
        placeStaged(() => {}),
      ),
    ),
    1,
  )
  assert.equal(await cell(own, `select count(*) from lockstep.message where queue_id = ${await idOf(own, 'q')}`), '1')
})

test('a key goes an hour after its expiry, not before, and not while somebody holds or renews it', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(
    `insert into lockstep.kv (ns, key, value, version, expires_at, updated_at)
     select 'ns' || n % 3, 'k' || n, '1', n, lockstep.clock() - make_interval(mins => case when n % 2 = 0 then 61 else 59 end),
       lockstep.clock() from generate_series(1, 5000) n
     union all select 'ns0', 'forever', '1', 1, null, lockstep.clock()`,
    [],
  )
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run(`select 1 from lockstep.kv where key = 'k2' for no key update`)
  assert.equal(total(await stepped(own, expireKv())), 2499)
  await holder.run(`update lockstep.kv set expires_at = null where key = 'k2'`)
  await holder.run('commit')
  assert.equal(total(await stepped(own, expireKv())), 0)
  assert.equal(
    await cell(own, `select count(*) from lockstep.kv where expires_at < lockstep.clock() - interval '1 hour'`),
    '0',
  )
  assert.equal(await cell(own, 'select count(*) from lockstep.kv'), '2502')
})

test('the walk over the keys pauses after some chunks and goes on where it was', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(
    `insert into lockstep.kv (ns, key, value, version, expires_at, updated_at)
     select 'n', lpad(n::text, 6, '0'), '1', n, lockstep.clock() - interval '2 hours', lockstep.clock() from generate_series(1, 45000) n`,
    [],
  )
  const job = expireKv()
  assert.equal(total(await stepped(own, job)), 20_000)
  assert.equal(total(await stepped(own, job)), 20_000)
  assert.equal(total(await stepped(own, job)), 5_000)
})

test('recorded answers go when their time is over, and one that is taken anew stays', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(
    `insert into lockstep.request (id, body_hash, result, expires_at)
     select 'r' || n, 'h', '{}', lockstep.clock() + make_interval(secs => case when n <= 1200 then -1 else 60 end)
     from generate_series(1, 1210) n`,
    [],
  )
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run(`select lockstep.open_request('r1', 'new')`)
  const steps = await stepped(own, jobNamed('expire_requests'))
  assert.equal(total(steps), 1199)
  assert.ok(Math.max(...steps) <= 500)
  await holder.run(`select lockstep.close_request('r1', 'kept')`)
  await holder.run('commit')
  assert.deepEqual(await stepped(own, jobNamed('expire_requests')), [0])
  assert.equal(await cell(own, 'select count(*) from lockstep.request'), '11')
})

test('a deleted queue goes in bounded steps with all it held, and the new queue of its name keeps everything', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 'q', 30, 500)
  const old = await idOf(own, 'q')
  assert.deepEqual(await content(own, old), ['15000', '30', '30', '20', '1'])
  await own.database.rows(`select lockstep.delete_queue('q')`, [])
  await fill(own, 'q', 3, 4)
  const fresh = await idOf(own, 'q')
  const before = await content(own, fresh)
  const steps = await stepped(own, removeQueues())
  assert.ok(Math.max(...steps) <= 5_500, `a step removed ${Math.max(...steps)} rows`)
  assert.ok(steps.length >= 6)
  assert.deepEqual(await content(own, old), ['0', '0', '0', '0', '0'])
  assert.equal(await cell(own, `select count(*) from lockstep.queue where id = ${old}`), '0')
  assert.deepEqual(await content(own, fresh), before)
})

test('a queue of a thousand small partitions goes without a step per partition', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 'q', 1000, 1)
  await own.database.rows(`select lockstep.delete_queue('q')`, [])
  assert.ok((await stepped(own, removeQueues())).length <= 6)
  assert.equal(await cell(own, 'select count(*) from lockstep.queue'), '0')
})

test('a push that is under way while its queue is deleted leaves nothing behind', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 'q', 2, 1)
  const old = await idOf(own, 'q')
  const { pusher } = await openSessions(own, ['pusher'])
  const push = `select * from lockstep.push_joined(array['q'], array['p0'], array['late'], array['{}'], array[null], array[null], array[gen_random_uuid()])`
  await pusher.run('begin')
  await pusher.run(push)
  await own.database.rows(`select lockstep.delete_queue('q')`, [])
  await stepped(own, removeQueues())
  assert.equal(await cell(own, `select count(*) from lockstep.partition where queue_id = ${old}`), '1')
  await pusher.run('commit')
  await stepped(own, removeQueues())
  assert.deepEqual(await content(own, old), ['0', '0', '0', '0', '0'])
  assert.equal(await cell(own, 'select count(*) from lockstep.queue'), '0')
})

test('lanes of a deleted and of a moved group go, those of the living stay', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 'a', 5, 1)
  await fill(own, 'b', 150, 1)
  const lanes = (queue: string): Promise<string | null> =>
    cell(
      own,
      `select count(*) from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = '${queue}'`,
    )
  await own.database.rows(`select * from lockstep.seek_group('b', 'g', '-infinity')`, [])
  assert.equal(total(await stepped(own, jobNamed('remove_lanes'))), 150)
  assert.equal(await lanes('b'), '0')
  assert.equal(await lanes('a'), '5')
  await own.database.rows(`select * from lockstep.delete_group('a', 'g')`, [])
  assert.equal(total(await stepped(own, jobNamed('remove_lanes'))), 5)
})
