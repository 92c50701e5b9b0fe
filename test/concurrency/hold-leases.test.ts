// Leases held to the end of a step: two steps that hold each other's lanes end soon and without a deadlock, and who changes a
// held lane waits for the step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { item, popOf } from '../kit/speech.ts'

const HOLD = 'select lockstep.hold_leases($1::text[])'
const LOCK = 'select 1 from lockstep.lane where lease_id = $1 for no key update'

test('two that hold what the other one wants next: one is told to come back, none is called a deadlock', async (t) => {
  const own = await createTestDatabase(t)
  const leases: string[] = []
  for (const queue of ['a', 'b']) {
    await push(own.database, [item(queue, 'p', 'm')])
    leases.push((await pop(own.database, popOf(queue, 'g'))).answers[0]?.[0]?.leaseId ?? '')
  }
  const [a = '', b = ''] = leases
  const { one, two } = await openSessions(own, ['one', 'two'])
  for (const session of [one, two]) await session.run('begin')
  await one.run(LOCK, [a])
  await two.run(LOCK, [b])
  await one.start(HOLD, [[b]])
  await two.start(HOLD, [[a]])
  const told = [await one.result(), await two.result()]
  assert.ok(told.some((result) => 'error' in result))
  for (const result of told) if ('error' in result) assert.equal(result.error, '55P03')
})

test('a held lease is not ended before the step is: the ack of another waits', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'm')])
  const lease = (await pop(own.database, popOf('q', 'g'))).answers[0]?.[0]?.leaseId ?? ''
  const { step, other } = await openSessions(own, ['step', 'other'])
  await step.run('begin')
  assert.deepEqual(await step.run(HOLD, [[lease, 'never']]), { rows: [[['never']]] })
  assert.equal(await other.start('select renewed from lockstep.extend($1, 60)', [lease]), 'blocked')
  await step.run('commit')
  assert.deepEqual(await other.result(), { rows: [[1]] })
})
