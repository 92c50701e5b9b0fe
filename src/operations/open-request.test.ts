// Request ids: the first committed answer is the answer for 24 hours, whoever asks again and however they overlap.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '../db/transaction.ts'
import { LockstepError } from '../protocol/errors.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { waitUntilBlocked } from '../testing/sessions.ts'
import { closeRequest } from './close-request.ts'
import { openRequest } from './open-request.ts'

async function answered({ database }: TestDatabase, id: string, hash: string, result: string): Promise<string | null> {
  return transaction(database, async (tx) => {
    const { recorded } = await openRequest(tx, id, hash)
    if (recorded === null) await closeRequest(tx, id, result)
    return recorded
  })
}

const code = (expected: string) => (error: unknown) => error instanceof LockstepError && error.code === expected
const conflicts = code('request_conflict')

test('the same id and body answers the first result; another body is a conflict', async (t) => {
  const own = await createTestDatabase(t)
  assert.equal(await answered(own, 'r', 'h', 'first'), null)
  assert.equal(await answered(own, 'r', 'h', 'second'), 'first')
  await assert.rejects(answered(own, 'r', 'other', 'third'), conflicts)
  assert.equal(await answered(own, 'r', 'h', 'fourth'), 'first')
  assert.equal(await answered(own, 'R', 'other', 'fifth'), null)
})

test('an id whose work rolled back is free, also for another body', async (t) => {
  const own = await createTestDatabase(t)
  await assert.rejects(
    transaction(own.database, async (tx) => {
      await openRequest(tx, 'r', 'h')
      await closeRequest(tx, 'r', 'lost')
      throw new Error('stop')
    }),
    /stop/,
  )
  assert.equal(await answered(own, 'r', 'other', 'kept'), null)
  assert.equal(await answered(own, 'r', 'other', 'x'), 'kept')
})

test('the second of two identical requests waits for the first and answers its result', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 10_000 })
  const first = await own.connect()
  await first.query(`begin; select lockstep.open_request('r', 'h')`)
  const second = answered(own, 'r', 'h', 'second')
  await waitUntilBlocked(own, 1)
  await first.query(`select lockstep.close_request('r', 'first'); commit`)
  assert.equal(await second, 'first')
})

test('when the first of two identical requests rolls back, the second is the first', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 10_000 })
  const first = await own.connect()
  await first.query(`begin; select lockstep.open_request('r', 'h')`)
  const second = answered(own, 'r', 'h', 'second')
  await waitUntilBlocked(own, 1)
  await first.query('rollback')
  assert.equal(await second, null)
  assert.equal(await answered(own, 'r', 'h', 'x'), 'second')
})

test('after 24 hours an id is new again, with any body', async (t) => {
  const own = await createTestDatabase(t)
  await answered(own, 'r', 'h', 'first')
  const [row] = await own.database.rows(
    `select expires_at - lockstep.clock() > interval '23 hours 59 minutes',
       expires_at - lockstep.clock() <= interval '24 hours' from lockstep.request`,
    [],
  )
  assert.deepEqual(row, ['t', 't'])
  await own.database.rows('update lockstep.request set expires_at = lockstep.clock()', [])
  assert.equal(await answered(own, 'r', 'other', 'second'), null)
  assert.equal(await answered(own, 'r', 'other', 'x'), 'second')
})

test('a joined call in any order and with repeated ids takes each id once; a null answer gives it back', async (t) => {
  const own = await createTestDatabase(t)
  const opened = await transaction(own.database, async (tx) => {
    const rows = await tx.rows('select * from lockstep._open_requests($1::text[], $2::text[])', [
      ['z', 'a', 'm', 'a'],
      ['1', '2', '3', 'other'],
    ])
    await tx.rows('select lockstep._close_requests($1::text[], $2::text[])', [
      ['z', 'a', 'm'],
      ['Z', null, 'M'],
    ])
    return rows
  })
  assert.deepEqual(opened, [
    ['2', 'new', null],
    ['4', 'conflict', null],
    ['3', 'new', null],
    ['1', 'new', null],
  ])
  assert.deepEqual(await own.database.rows('select id, result from lockstep.request order by id', []), [
    ['m', 'M'],
    ['z', 'Z'],
  ])
})

test('an id that was opened and committed without an answer is judged again', async (t) => {
  const own = await createTestDatabase(t)
  assert.equal((await openRequest(own.database, 'r', 'h')).recorded, null)
  assert.equal(await answered(own, 'r', 'other', 'kept'), null)
  assert.equal(await answered(own, 'r', 'other', 'x'), 'kept')
})

test('calls that name the same ids in opposite orders never deadlock', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 20_000 })
  const ids = Array.from({ length: 12 }, (_, index) => `r${index}`)
  await Promise.all(
    Array.from({ length: 60 }, (_, round) =>
      transaction(own.database, async (tx) => {
        const order = round % 2 === 0 ? ids : ids.toReversed()
        await tx.rows('select * from lockstep._open_requests($1::text[], $2::text[])', [order, order.map(() => 'h')])
        await tx.rows('select lockstep._close_requests($1::text[], $2::text[])', [
          order,
          order.map(() => String(round)),
        ])
      }),
    ),
  )
  const rows = await own.database.rows('select count(*), count(distinct result) from lockstep.request', [])
  assert.deepEqual(rows, [['12', '1']])
  const deadlocks = await own.database.rows(
    'select deadlocks from pg_stat_database where datname = current_database()',
    [],
  )
  assert.deepEqual(deadlocks, [['0']])
})

test('an id past its limit, without a hash, or under another isolation is refused', async (t) => {
  const own = await createTestDatabase(t)
  await assert.rejects(openRequest(own.database, '', 'h'), code('bad_request'))
  await assert.rejects(openRequest(own.database, 'é'.repeat(129), 'h'), code('bad_request'))
  await openRequest(own.database, 'é'.repeat(128), 'h')
  const client = await own.connect()
  await client.query('begin isolation level repeatable read')
  await assert.rejects(client.query(`select lockstep.open_request('r', 'h')`), { code: 'LS425' })
})
