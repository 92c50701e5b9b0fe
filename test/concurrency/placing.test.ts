// Placing what users' transactions staged: a queue that is deleted meanwhile takes nothing, one row that cannot be placed holds
// up nobody else, and what no broker would take is not staged either.
import assert from 'node:assert/strict'
import test from 'node:test'
import { deleteQueue } from '../../src/operations/delete-queue.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { placeStaged } from '../../src/upkeep/place-staged.ts'
import { drain } from '../kit/drain.ts'
import { item, popOf } from '../kit/speech.ts'

test('a push committed after a queue was deleted reaches the queue that has the name then, not the one that is gone', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'first')])
  await drain(own, 'q', 'g')
  const { holder, looking } = await openSessions(own, ['holder', 'looking'])
  await holder.run('begin')
  await holder.run(`select 1 from lockstep.partition where name = 'p' for no key update`)
  await own.database.rows(`select lockstep.push('q', '"before"', 'p')`, [])
  // A look that waits for the partition, as a broker's second one does.
  const look = await looking.start(
    `select * from lockstep.pop_joined('q', null, 'g', '{l1}', 10, 1, null, false, 'all', null, null, true)`,
  )
  assert.equal(look, 'blocked')
  await deleteQueue(own.database, 'q')
  await own.database.rows(`select lockstep.push('q', '"after"', 'p')`, [])
  await holder.run('rollback')
  await looking.result()
  const found = await drain(own, 'q', 'h')
  assert.deepEqual(
    found.map((one) => one.payload),
    ['"after"'],
  )
})

test('a new group of a queue whose partition somebody holds is registered at once and reads that partition', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'm1')])
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run('select 1 from lockstep.partition for no key update')
  const outcome = await pop(own.database, popOf('q', 'g'))
  assert.equal(outcome.answers[0]?.length, 1)
  await holder.run('rollback')
})

test('two staged pushes of one message id that clash with the log are both dead letters, and wedge nothing', async (t) => {
  const own = await createTestDatabase(t)
  const id = '01a227d9-6709-7029-9680-345d117a9c71'
  for (const tx of ['a', 'b']) {
    const client = await own.connect()
    await client.query('begin')
    await client.query(`select lockstep.stage('{q}', '{p}', $1, '{1}', '{null}', '{null}', $2)`, [[tx], [id]])
    await push(own.database, [item('q', 'p', tx, '2')])
    await client.query('commit')
  }
  await push(own.database, [item('q', 'p', 'c')])
  const letters = await own.database.rows(`select cause from lockstep.dead_letter`, [])
  assert.deepEqual(letters, [['conflict'], ['conflict']])
})

test('a queue that cannot be placed does not hold up those behind it', async (t) => {
  const own = await createTestDatabase(t)
  for (const queue of ['a', 'b', 'c']) await own.database.rows(`select lockstep.push($1, '1')`, [queue])
  await own.database.pool.query(`
    create function public.fault() returns trigger language plpgsql as $$ begin
      if exists (select 1 from lockstep.queue q where q.id = new.queue_id and q.name = 'b') then raise 'no'; end if;
      return new; end $$;
    create trigger fault before insert on lockstep.message for each row execute function public.fault()`)
  const job = placeStaged(() => {})
  let faults = 0
  for (let step = 0; step < 8; step += 1) {
    try {
      await job.step(own.database)
    } catch {
      faults += 1
    }
  }
  assert.ok(faults >= 1)
  const left = await own.database.rows('select queue_name from lockstep.staged', [])
  assert.deepEqual(left, [['b']])
})

test('text that is no JSON, names that are none and a session that misreads NULL are refused where they are staged', async (t) => {
  const own = await createTestDatabase(t)
  const client = await own.connect()
  const stage = (queue: string, partition: string, payload: string): Promise<unknown> =>
    client.query('select lockstep.stage_one($1, $2, $3, $4, $5)', [
      queue,
      partition,
      null,
      payload,
      '01a227d9-6709-7029-9680-345d117a9c71',
    ])
  await assert.rejects(stage('q', 'p', '1},{"id":"forged","data":2'), /invalid input syntax for type json/)
  await assert.rejects(stage('', 'p', '1'), /queue must be a name/)
  await assert.rejects(stage('q', 'x'.repeat(600), '1'), /partition is 600 bytes long/)
  await client.query('set array_nulls = off')
  await assert.rejects(stage('q', 'p', '1'), /array_nulls must be on/)
})

test('pushes without ids stay apart whatever a role says about NULL in arrays', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.pool.query(`alter database ${own.name} set array_nulls = off`)
  const again = await own.connect()
  assert.equal((await again.query('show array_nulls')).rows[0]?.array_nulls, 'off')
  await own.database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
    [own.name],
  )
  const one = { ...item('q', 'p', 'x'), transactionId: null }
  const results = await push(own.database, [
    { ...one, messageId: '01a227d9-6709-7029-9680-345d117a9c71' },
    { ...one, messageId: '01a227d9-6709-7029-9680-345d117a9c72' },
  ])
  assert.deepEqual(
    results.map((result) => result.status),
    ['queued', 'queued'],
  )
})

test('a start moved back makes the backlog of unresolved cursors deliverable at once', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'old')])
  assert.equal((await pop(own.database, popOf('q', 'g', { start: { mode: 'new' } }))).answers[0]?.length, 0)
  await own.database.rows(`select lockstep.set_subscription('g', '2020-01-01')`, [])
  assert.deepEqual(
    (await drain(own, 'q', 'g')).map((one) => one.transactionId),
    ['old'],
  )
})
