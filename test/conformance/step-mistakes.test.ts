// What a transactional handler may do wrong, and what it is told: a failure it swallowed, an ack beside its step.
import assert from 'node:assert/strict'
import { onlyWay } from './every-way.ts'

onlyWay('postgres', 'the dead letter of a swallowed failure names the statement that failed first', async (c) => {
  const { another, named, sql } = c
  const warnings: string[] = []
  const lockstep = another({ warn: (details) => warnings.push(JSON.stringify(details)) })
  await lockstep.queue(named('q')).config({ retryLimit: 0 }).create()
  await lockstep.queue(named('q')).push([{ data: 'swallowed' }, { data: 'second' }, { data: 'undone' }])
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(3)
    .consume(async (message, step) => {
      if (message.data === 'undone') await step.tx.query('savepoint s')
      await step.tx.query('select 1/0').catch(() => {})
      if (message.data === 'undone') await step.tx.query('rollback to savepoint s')
      if (message.data === 'second') await step.tx.query('select 2')
    })
  const dead = await sql(
    'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
    [named('q')],
  )
  assert.equal(dead.length, 2)
  for (const { error } of dead) assert.match(String(error), /division by zero/)
  assert.ok(warnings.some((line) => line.includes('division by zero')))
})

onlyWay('postgres', 'a step refuses to have its message acknowledged beside it, and goes on', async (c) => {
  const { lockstep, named } = c
  const queue = lockstep.queue(named('q')).group('w').subscriptionMode('all')
  await lockstep.queue(named('q')).push([{ data: 1 }, { data: 2 }, { data: 3 }])
  const seen: number[] = []
  const result = await queue
    .transactional()
    .limit(3)
    .consume(async (message) => {
      seen.push(message.data)
      const refused = { code: 'bad_request', message: /must not acknowledge/ }
      if (message.data === 1) await assert.rejects(lockstep.ack(message), refused)
      if (message.data === 2) await assert.rejects(lockstep.transaction().ack(message).commit(), refused)
    })
  assert.deepEqual(seen, [1, 2, 3])
  assert.deepEqual(result, { consumed: 3, reason: 'limit' })
  assert.deepEqual(await queue.pop(), [])
})
