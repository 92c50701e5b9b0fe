// Steps that share one commit are strangers to each other: what one of them loses, nobody else has seen.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { KvOperation } from '../../src/protocol/kv.ts'
import type { TransactionRequest, TransactionResult } from '../../src/protocol/transaction.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { byPartition, drain } from '../kit/drain.ts'
import { assertSound } from '../kit/soundness.ts'
import { ackOf, item, popOf, putOf, stepOf } from '../kit/speech.ts'

/** As the traffic room does: what was deferred is sent again, until every step has its answer. */
async function all(own: TestDatabase, steps: readonly TransactionRequest[]): Promise<readonly TransactionResult[]> {
  const answers = new Map<TransactionRequest, TransactionResult>()
  for (let left = steps; left.length > 0; left = left.filter((step) => !answers.has(step))) {
    const told = await transaction(own.database, left)
    assert.notEqual(told[0], 'deferred')
    for (const [at, step] of left.entries()) {
      const answer = told[at]
      if (answer !== undefined && answer !== 'deferred') answers.set(step, answer)
    }
  }
  return steps.flatMap((step) => answers.get(step) ?? [])
}

const get = (key: string): KvOperation => ({ op: 'get', ns: 's', key })
const getMany = (...keys: string[]): KvOperation => ({ op: 'getMany', ns: 's', keys })

test('a step reads nothing that a neighbour wrote and then lost by its ack or its push', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'known')])
  const [one] = await drain(own, 'q', 'g')
  assert.ok(one)
  const gone = ackOf(one, 'failed')
  const reads = stepOf({ kv: [get('a'), getMany('a', 'b')] })
  for (const loser of [
    stepOf({ kv: [putOf('s', 'a', '1'), putOf('s', 'b', '1')], acks: [gone] }),
    stepOf({ kv: [putOf('s', 'a', '1'), putOf('s', 'b', '1')], pushes: [item('q', 'p', 'known')] }),
  ]) {
    const [lost, read] = await all(own, [loser, reads])
    assert.equal(lost?.success, false)
    assert.ok(read?.success)
    const [first, second] = read.kv
    assert.ok(first?.op === 'get' && !first.found)
    assert.ok(second?.op === 'getMany')
    assert.deepEqual([second.rows, second.missing], [[], ['a', 'b']])
  }
})

test('a step reads what was committed, not what a repeated neighbour did when it was new', async (t) => {
  const own = await createTestDatabase(t)
  const step = stepOf({ requestId: 'r', kv: [putOf('s', 'a', '1')] })
  await all(own, [step])
  await all(own, [stepOf({ kv: [putOf('s', 'a', '2')] })])
  const [again, read] = await all(own, [step, stepOf({ kv: [get('a')] })])
  assert.ok(again?.success && again.replayed)
  const [found] = read?.success ? read.kv : []
  assert.ok(found?.op === 'get' && found.found)
  assert.deepEqual([found.row.value, found.row.version], ['2', 2])
})

test('of joined steps each is judged alone: losers leave no message, state, cursor or staged row, winners all of theirs', async (t) => {
  const own = await createTestDatabase(t)
  await push(
    own.database,
    Array.from({ length: 12 }, (_, at) => item('in', `p${at}`, 'm')),
  )
  const leased = (await pop(own.database, popOf('in', 'g', { partitions: 12, batch: 12 }))).answers.flat()
  await push(own.database, [item('out', 'p', 'taken')])
  const steps = leased.map((one, at) =>
    stepOf({
      ...(at % 2 === 0 ? { requestId: `r${at}` } : {}),
      acks: [ackOf(one, 'completed', at % 4 === 1 ? { leaseId: 'another' } : {})],
      kv: [putOf('s', `k${at}`, String(at), at % 4 === 2 ? 77 : null)],
      pushes: [item('out', 'p', at % 4 === 3 ? 'taken' : `o${at}`), item('out', 'new', `o${at}`)],
    }),
  )
  const answers = await all(own, steps)
  const reasons = ['', 'rejected_ack', 'kv_precondition', 'duplicate']
  for (const [at, answer] of answers.entries()) assert.equal(answer.success ? '' : answer.reason, reasons[at % 4])
  const won = leased.flatMap((_, at) => (at % 4 === 0 ? [at] : []))
  assert.deepEqual(byPartition(await drain(own, 'out', 'g')), {
    p: ['taken', ...won.map((at) => `o${at}`)],
    new: won.map((at) => `o${at}`),
  })
  const kept = await own.database.reader.rows('select key from lockstep.kv where version > 0', [])
  assert.deepEqual(new Set(kept.flat()), new Set(won.map((at) => `k${at}`)))
  const moved = await own.database.reader.rows(
    `select p.name from lockstep.lane l join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
       join lockstep.queue q on q.id = l.queue_id where q.name = 'in' and l.committed = 1`,
    [],
  )
  assert.deepEqual(new Set(moved.flat()), new Set(won.map((at) => leased[at]?.partition)))
  assert.deepEqual(await own.database.reader.rows('select * from lockstep.staged', []), [])
  await assertSound(own)
})

test('a look at a drained or waiting partition, and at nothing at all, writes nothing', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'failed', 'm')])
  const [failed] = (await pop(own.database, popOf('q', 'g'))).answers.flat()
  assert.ok(failed)
  await own.database.rows(`select lockstep.configure('q', '{"retryDelay":600000}')`, [])
  await ack(own.database, [[ackOf(failed, 'failed')]])
  await push(own.database, [item('q', 'p', 'm')])
  await drain(own, 'q', 'g')
  const versions = async (): Promise<unknown> =>
    own.database.reader.rows('select xmin, ctid from lockstep.lane order by partition_id', [])
  const before = await versions()
  for (const partition of ['p', 'failed', null]) {
    const { answers } = await pop(own.database, popOf('q', 'g', { partition }))
    assert.deepEqual(answers, [[]])
  }
  assert.deepEqual(await versions(), before)
})
