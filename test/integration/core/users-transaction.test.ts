// The user's transaction is the user's: what is done in it leaves no lock that others meet, no setting, no notification, no
// temporary table, nothing after a rollback, and works through a pooler that hands the session on at each commit.
import assert from 'node:assert/strict'
import test from 'node:test'
import { kvIn } from '../../../src/operations/kv-in.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { stage } from '../../../src/operations/stage.ts'
import { transactionIn } from '../../../src/operations/transaction-in.ts'
import { createTestDatabase, type TestDatabase } from '../../../src/testing/database.ts'
import { openActor, type Actor } from '../../kit/actor.ts'
import { drain } from '../../kit/drain.ts'
import { ackOf, item, popOf, putOf, stepOf } from '../../kit/speech.ts'

const SETTINGS = `select name, setting from pg_settings where source = 'session' or name ~ '^(enable|plan|search|time|lock|statement|default|transaction_iso)' order by 1`
const FOREIGN_LOCKS = `select locktype, mode, relation::regclass from pg_locks
  where pid = pg_backend_pid() and (locktype = 'advisory' or mode in ('ShareLock', 'ExclusiveLock', 'AccessExclusiveLock', 'ShareRowExclusiveLock'))
    and locktype not in ('virtualxid', 'transactionid')`

async function work(own: TestDatabase, user: Actor): Promise<void> {
  const leased = (await pop(own.database, popOf('q', 'g', { batch: 1 }))).answers.flat()
  assert.equal(leased.length, 1)
  assert.equal((await stage(user.door, [item('q', 'p', null), item('new', 'new', null)])).length, 2)
  assert.ok((await kvIn(user.door, [putOf('s', 'a', '1')])).ok)
  const step = stepOf({
    acks: leased.map((one) => ackOf(one)),
    pushes: [item('out', 'p', null)],
    kv: [putOf('s', 'b', '1')],
  })
  assert.ok((await transactionIn(user.door, step)).success)
}

test('work in a user transaction leaves his session as it was, and tells nobody before the commit', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'm1'), item('q', 'p', 'm2')])
  const [user, listener] = [await openActor(own, 'user'), await openActor(own, 'listener')]
  const heard: string[] = []
  listener.client.on('notification', ({ channel }) => heard.push(channel))
  await listener.sql('listen lockstep')
  const before = await user.sql(SETTINGS)
  await user.sql('begin')
  await work(own, user)
  assert.deepEqual(await user.sql(FOREIGN_LOCKS), [])
  assert.deepEqual(await user.sql(SETTINGS), before)
  assert.deepEqual(await user.sql(`select * from pg_class where relpersistence = 't'`), [])
  assert.deepEqual(await user.sql(`select * from pg_prepared_statements where name <> ''`), [])
  await user.sql('commit')
  assert.deepEqual(await user.sql(SETTINGS), before)
  await listener.sql('select 1')
  assert.deepEqual(heard, [])
})

test('a rollback of a user transaction leaves nothing of it at all, to a savepoint too', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'm1'), item('q', 'p', 'm2')])
  const everything = async (): Promise<unknown> => {
    const tables = ['message', 'staged', 'partition', 'queue', 'dead_letter', 'request', 'consumer_group']
    return Promise.all(tables.map((table) => own.database.reader.rows(`select * from lockstep.${table}`, [])))
  }
  const user = await openActor(own, 'user')
  for (const [begin, end] of [
    [['begin'], ['rollback']],
    [
      ['begin', 'savepoint s'],
      ['rollback to s', 'commit'],
    ],
  ] as const) {
    // The group and its lane are the pop's, outside of the transaction.
    await drainNothing(own)
    const before = await everything()
    for (const statement of begin) await user.sql(statement)
    await work(own, user)
    for (const statement of end) await user.sql(statement)
    assert.deepEqual(await everything(), before)
    const rows = await own.database.reader.rows('select * from lockstep.kv where version > 0', [])
    assert.deepEqual(rows, [])
    const [lane] = await own.database.reader.rows('select lease_id, committed from lockstep.lane', [])
    await own.database.rows('select lockstep.release($1)', [lane?.[0] ?? ''])
    assert.equal(lane?.[1], '0')
  }
})

/** Registers the group without taking anything. */
async function drainNothing(own: TestDatabase): Promise<void> {
  const { answers } = await pop(own.database, popOf('q', 'g', { batch: 1 }))
  await own.database.rows('select lockstep.release($1)', [answers.flat()[0]?.leaseId ?? ''])
}

test('the clock moves inside a transaction, so nothing in it is judged by when it began', async (t) => {
  const own = await createTestDatabase(t)
  const user = await openActor(own, 'user')
  await user.sql('begin')
  const [first] = await user.sql('select lockstep.clock()::text, now()::text')
  let [later] = await user.sql('select lockstep.clock()::text, now()::text')
  for (let look = 0; look < 1000 && later?.[0] === first?.[0]; look++)
    [later] = await user.sql('select lockstep.clock()::text, now()::text')
  assert.equal(later?.[1], first?.[1])
  assert.notEqual(later?.[0], first?.[0])
})

test('time zone and date style of a session change no answer', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'm')])
  const strange = await openActor(own, 'strange')
  await strange.sql(`set timezone = 'Asia/Tokyo'`)
  await strange.sql(`set datestyle = 'German'`)
  const here = await pop(strange.db, popOf('q', 'g'))
  const there = await pop(own.database, popOf('q', 'h'))
  assert.equal(here.answers.flat()[0]?.createdAt, there.answers.flat()[0]?.createdAt)
  assert.match(here.answers.flat()[0]?.createdAt ?? '', /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/)
  // The floor that one session gives is read by another.
  const empty = await pop(strange.db, popOf('q', 'g', { floor: here.floor }))
  await push(own.database, [item('q', 'p2', 'm')])
  const found = await pop(own.database, popOf('q', 'g', { floor: empty.floor }))
  assert.equal(found.answers.flat().length, 1)
})

test('a plain push behind more staged ones than one visit places joins their end', async (t) => {
  const own = await createTestDatabase(t)
  const user = await openActor(own, 'user')
  const count = 1500
  await stage(
    user.door,
    Array.from({ length: count }, (_, at) => item('q', 'p', `s${at}`)),
  )
  const [plain] = await push(own.database, [item('q', 'p', 'plain')])
  assert.deepEqual([plain?.status, plain?.offset], ['queued', null])
  const placed = await own.database.reader.rows('select count(*) from lockstep.message', [])
  assert.deepEqual(placed, [['1000']])
  const got = (await drain(own, 'q', 'g')).map((one) => one.transactionId)
  assert.deepEqual(got, [...Array.from({ length: count }, (_, at) => `s${at}`), 'plain'])
})
