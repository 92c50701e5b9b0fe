// A message is in its log and ahead of the cursor, or in the dead letters, never in both and never in neither, wherever the
// connection is cut; and a duplicate is what is stored, not what was once attempted.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { stage } from '../../../src/operations/stage.ts'
import { transaction } from '../../../src/operations/transaction.ts'
import { administer, createTestDatabase, type TestDatabase } from '../../../src/testing/database.ts'
import { openActor, type Actor } from '../../kit/actor.ts'
import { drain } from '../../kit/drain.ts'
import { ackOf, item, popOf, putOf, stepOf } from '../../kit/speech.ts'

async function count(own: TestDatabase): Promise<readonly number[]> {
  const [row] = await own.database.reader.rows(
    `select (select count(*) from lockstep.message m join lockstep.lane l using (queue_id, partition_id)
              where m."offset" >= l.committed),
            (select count(*) from lockstep.dead_letter), (select count(*) from lockstep.staged)`,
    [],
  )
  return (row ?? []).map(Number)
}

async function cut(own: TestDatabase, actor: Actor): Promise<void> {
  await administer((client) => client.query('select pg_terminate_backend($1)', [actor.pid]))
  const gone = async (): Promise<boolean> =>
    (await own.database.reader.rows('select 1 from pg_stat_activity where pid = $1', [String(actor.pid)])).length === 0
  while (!(await gone())) await own.database.reader.rows('select 1', [])
}

test('a cut connection leaves a message where it was: at its cursor, or in the dead letters', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(`select lockstep.configure('q', '{"retryLimit":0,"retryDelay":0}')`, [])
  await push(own.database, [item('q', 'p', 'm')])
  const got = (await pop(own.database, popOf('q', 'g'))).answers.flat()
  const bury = (actor: Actor) => ack(actor.db, [got.map((one) => ackOf(one, 'failed'))])
  const redrive = (actor: Actor) =>
    actor.sql('select r.result from lockstep.dead_letter d, lockstep.redrive_dead_letter(d.id) r')

  for (const [work, before, after] of [
    [bury, [1, 0, 0], [0, 1, 0]],
    [redrive, [0, 1, 0], [0, 0, 1]],
  ] as const) {
    const lost = await openActor(own, 'lost')
    await lost.sql('begin')
    await work(lost)
    await cut(own, lost)
    assert.deepEqual(await count(own), before)
    await work(await openActor(own, 'kept'))
    assert.deepEqual(await count(own), after)
  }
  const again = await drain(own, 'q', 'g')
  assert.deepEqual(
    again.map((one) => [one.payload, one.partition, one.deliveryAttempt]),
    [['"m"', 'p', 1]],
  )
})

test('a redrive to a queue that is gone fails and the dead letter stays', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(`select lockstep.configure('q', '{"retryLimit":0,"retryDelay":0}')`, [])
  await push(own.database, [item('q', 'p', 'm'), item('gone', 'p', 'm')])
  const got = (await pop(own.database, popOf('q', 'g'))).answers.flat()
  await ack(own.database, [got.map((one) => ackOf(one, 'failed'))])
  await own.database.rows(`select lockstep.delete_queue('gone')`, [])
  const [row] = await own.database.rows(
    `select r.result from lockstep.dead_letter d, lockstep.redrive_dead_letter(d.id, 'gone') r`,
    [],
  )
  assert.deepEqual(row, ['queue_not_found'])
  assert.deepEqual(await count(own), [0, 1, 0])
})

test('a step that rolled back remembers no id; a stored id is remembered past consumption', async (t) => {
  const own = await createTestDatabase(t)
  const step = stepOf({ pushes: [item('q', 'p', 'k')], kv: [putOf('s', 'key', '1', 7)] })
  const [lost] = await transaction(own.database, [step])
  assert.ok(lost !== undefined && lost !== 'deferred' && !lost.success && lost.reason === 'kv_precondition')
  const [stored] = await push(own.database, [item('q', 'p', 'k')])
  assert.equal(stored?.status, 'queued')
  await drain(own, 'q', 'g')
  const [again] = await push(own.database, [item('q', 'p', 'k')])
  assert.deepEqual([again?.status, again?.messageId], ['duplicate', stored.messageId])
})

test('twenty pushes of one id with two bodies store one, and each loser learns whether its body was the one', async (t) => {
  const own = await createTestDatabase(t, { connections: 10 })
  const bodies = Array.from({ length: 20 }, (_, at) => String((at % 2) + 1))
  const results = (await Promise.all(bodies.map((body) => push(own.database, [item('q', 'p', 'k', body)])))).flat()
  const [stored] = await drain(own, 'q', 'g')
  assert.equal(results.filter((one) => one.status === 'queued').length, 1)
  for (const [at, one] of results.entries()) {
    assert.equal(one.messageId, stored?.id)
    assert.equal(one.conflict, bodies[at] !== stored?.payload)
  }
})

test('bodies of one id are compared as bytes, and payloads come back as they were', async (t) => {
  const own = await createTestDatabase(t)
  const payloads = [
    '9007199254740993',
    '1e400',
    '-0',
    '1.10',
    '{"b":1,"a":2}',
    String.raw`"\u0000 \ud800 é"`,
    ' [1 , 2] ',
    '{"__proto__":{"x":1}}',
  ]
  await push(
    own.database,
    payloads.map((payload, at) => item('q', 'p', `m${at}`, payload)),
  )
  const user = await openActor(own, 'user')
  await stage(
    user.door,
    payloads.map((payload, at) => item('q', 's', `m${at}`, payload)),
  )
  const got = await drain(own, 'q', 'g')
  for (const partition of ['p', 's'])
    assert.deepEqual(
      got.filter((one) => one.partition === partition).map((one) => one.payload),
      payloads,
    )
  const [same, other] = await push(own.database, [item('q', 'p', 'm3', '1.10'), item('q', 'p', 'm3', '1.1')])
  assert.deepEqual([same?.conflict, other?.conflict], [false, true])
})

test('names are values: whatever they hold, each comes back and stays apart from its neighbours', async (t) => {
  const own = await createTestDatabase(t)
  const odd = [
    "a'; drop table x;--",
    'a"b',
    '..',
    'A',
    'a',
    'é',
    'e\u0301',
    '😀',
    '\u200Fx',
    ' ',
    '%2e%2e',
    '{a,b}',
    '\\',
  ]
  await push(
    own.database,
    odd.flatMap((queue) => odd.map((partition) => item(queue, partition, partition))),
  )
  for (const queue of odd) {
    const got = await drain(own, queue, queue)
    assert.deepEqual(got.map((one) => one.partition).toSorted(), odd.toSorted())
    assert.ok(got.every((one) => one.queue === queue && one.transactionId === one.partition))
  }
})
