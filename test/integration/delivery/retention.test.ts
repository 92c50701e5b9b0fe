// Retention: what each option lets go and what it leaves, how leases and groups are respected, and that a log that was cut
// reads, acks and replays as one that always began there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { findMessage } from '../../../src/operations/find-message.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../../src/testing/database.ts'
import { cutLogs } from '../../../src/upkeep/cut-logs.ts'
import { jobNamed } from '../../kit/job-named.ts'
import type { Job } from '../../../src/upkeep/job.ts'
import { removeCut } from '../../../src/upkeep/remove-cut.ts'
import { removeQueues } from '../../../src/upkeep/remove-queues.ts'
import { moveClock } from '../../kit/clock.ts'
import { drain } from '../../kit/drain.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf } from '../../kit/speech.ts'

type Options = Readonly<Record<string, number | boolean>>

async function open(t: TestEnd, options: Options): Promise<TestDatabase> {
  const own = await createTestDatabase(t)
  await moveClock(own, 0)
  await configure(own, options)
  return own
}

async function configure(own: TestDatabase, options: Options): Promise<void> {
  await own.database.rows('select lockstep.configure($1, $2::json)', [
    'q',
    JSON.stringify({ retentionEnabled: true, dedupWindowSeconds: 31_536_000, ...options }),
  ])
}

async function store(own: TestDatabase, partition: string, ...names: readonly string[]): Promise<void> {
  await push(
    own.database,
    names.map((name) => item('q', partition, name)),
  )
}

async function run(own: TestDatabase, job: Job): Promise<number> {
  let sum = 0
  for (;;) {
    const { done, more } = await job.step(own.database)
    sum += done
    if (!more) return sum
  }
}

/** A walk, whenever the last one was; then what it cut off is deleted. */
async function retain(own: TestDatabase): Promise<number> {
  await own.database.rows('update lockstep.queue set retained_at = null returning id', [])
  const cut = await run(own, cutLogs())
  assert.equal(await run(own, removeCut()), cut)
  assert.deepEqual(await own.database.rows('select * from lockstep.log_cut', []), [])
  await assertSound(own)
  return cut
}

async function kept(own: TestDatabase, partition = 'a'): Promise<readonly (string | null | undefined)[]> {
  const rows = await own.database.rows(
    `select m.transaction_id from lockstep.message m
       join lockstep.partition p on p.queue_id = m.queue_id and p.id = m.partition_id
      where p.name = $1 order by m."offset"`,
    [partition],
  )
  return rows.map(([name]) => name)
}

async function look(own: TestDatabase, over: Partial<Parameters<typeof pop>[1]> = {}) {
  const got = (await pop(own.database, popOf('q', 'g', over))).answers.flat()
  return { got, names: got.map((one) => one.transactionId) }
}

test('messages older than retentionSeconds go, consumed or not; the switch and the age decide', async (t) => {
  const own = await open(t, { retentionSeconds: 100 })
  await store(own, 'a', 'm1', 'm2')
  await store(own, 'b', 'n1')
  await moveClock(own, 60)
  await store(own, 'a', 'm3')
  assert.equal(await retain(own), 0)
  await moveClock(own, 41)
  await configure(own, { retentionEnabled: false })
  assert.equal(await retain(own), 0)
  await configure(own, {})
  assert.equal(await retain(own), 3)
  assert.deepEqual([await kept(own, 'a'), await kept(own, 'b')], [['m3'], []])
  assert.deepEqual(
    (await drain(own, 'q', 'g')).map((one) => [one.transactionId, one.offset]),
    [['m3', 2]],
  )
  await store(own, 'b', 'n2')
  assert.deepEqual(
    (await look(own)).got.map((one) => [one.transactionId, one.offset]),
    [['n2', 1]],
  )
})

test('a live lease keeps its messages from retentionSeconds, a lapsed one does not', async (t) => {
  const own = await open(t, { retentionSeconds: 100 })
  await store(own, 'a', 'm1', 'm2', 'm3')
  await moveClock(own, 101)
  const { got } = await look(own, { batch: 2 })
  assert.equal(await retain(own), 0)
  const [first, second] = got.map((one) => ackOf(one))
  assert.ok(first !== undefined && second !== undefined)
  await ack(own.database, [[first]])
  assert.equal(await retain(own), 1)
  assert.deepEqual(await kept(own), ['m2', 'm3'])
  const [answers] = await ack(own.database, [[second]])
  assert.deepEqual([answers?.[0]?.success, answers?.[0]?.leaseReleased], [true, true])
  await look(own)
  await moveClock(own, 61)
  assert.equal(await retain(own), 2)
  assert.deepEqual((await look(own)).names, [])
})

test('completedRetentionSeconds takes what every group has passed and nothing that one still needs', async (t) => {
  const own = await open(t, { completedRetentionSeconds: 10 })
  await store(own, 'a', 'm1', 'm2', 'm3', 'm4')
  await moveClock(own, 11)
  assert.equal(await retain(own), 0, 'without a group nothing is passed')
  await drain(own, 'q', 'fast')
  assert.equal(await retain(own), 4)
  await store(own, 'a', 'm5', 'm6', 'm7')
  await drain(own, 'q', 'fast')
  const { got } = await look(own, { batch: 2 })
  await ack(own.database, [got.slice(0, 1).map((one) => ackOf(one))])
  await moveClock(own, 11)
  assert.equal(await retain(own), 1)
  assert.deepEqual(await kept(own), ['m6', 'm7'])
})

test('a group that has not reached a partition yet keeps all from its start', async (t) => {
  const own = await open(t, { completedRetentionSeconds: 10 })
  await store(own, 'a', 'm1')
  await moveClock(own, 5)
  await drain(own, 'q', 'fast')
  // Registered without having looked: neither lane nor cursor.
  await pop(own.database, popOf('q', 'late', { partition: 'b', start: { mode: 'new' } }))
  await store(own, 'a', 'm2', 'm3')
  await drain(own, 'q', 'fast')
  await moveClock(own, 11)
  assert.equal(await retain(own), 1, 'what was there before the late group began')
  assert.deepEqual(
    (await drain(own, 'q', 'late')).map((one) => one.transactionId),
    ['m2', 'm3'],
  )
  // Registered a moment ago: its lanes are not made yet.
  await own.database.rows(`select lockstep._open_group(id, 'all', 'all', null, false) from lockstep.queue`, [])
  assert.equal(await retain(own), 0)
  assert.deepEqual(
    (await drain(own, 'q', 'all')).map((one) => one.transactionId),
    ['m2', 'm3'],
  )
  assert.equal(await retain(own), 2)
})

test('maxWaitTimeSeconds takes what is too old from everybody, leases included, and the lane goes on', async (t) => {
  const own = await open(t, { retentionEnabled: false, maxWaitTimeSeconds: 100 })
  await store(own, 'a', 'm1', 'm2')
  await moveClock(own, 90)
  await store(own, 'a', 'm3', 'm4')
  const { got } = await look(own, { batch: 3 })
  await moveClock(own, 11)
  assert.equal(await retain(own), 2)
  assert.deepEqual(await kept(own), ['m3', 'm4'])
  const [answers = []] = await ack(own.database, [got.map((one) => ackOf(one))])
  assert.deepEqual(
    answers.map((one) => [one.success, one.leaseReleased]),
    [
      [false, false],
      [false, false],
      [true, true],
    ],
  )
  assert.match(answers[0]?.error ?? '', /committed/i)
  const rest = await look(own)
  assert.deepEqual(rest.names, ['m4'])
  await moveClock(own, 101)
  await store(own, 'a', 'm5')
  const late = await look(own)
  assert.deepEqual(late.names, ['m4', 'm5'])
  await own.database.rows('select lockstep.release($1)', [late.got[0]?.leaseId ?? ''])
  const held = await look(own, { batch: 1 })
  assert.deepEqual(held.names, ['m4'])
  assert.equal(await retain(own), 2, 'what was completed goes too')
  const [gone] = await ack(own.database, [held.got.map((one) => ackOf(one))])
  assert.deepEqual([gone?.[0]?.success, gone?.[0]?.error], [false, 'invalid or expired lease'])
  assert.deepEqual((await look(own)).names, ['m5'], 'at once, though the lease would still be live')
})

test('an ack into what is gone is already committed, an id that is gone may be used again, and a replay begins where the log does', async (t) => {
  const own = await open(t, { retentionSeconds: 100 })
  await store(own, 'a', 'm1', 'm2')
  const { got } = await look(own)
  await moveClock(own, 101)
  await store(own, 'a', 'm3')
  // The lease has lapsed.
  assert.equal(await retain(own), 2)
  const said = got.map((one) => ackOf(one, 'completed', { leaseId: null, transactionId: null, offset: one.offset }))
  const [noops = []] = await ack(own.database, [said])
  assert.deepEqual(
    noops.map((one) => [one.success, one.noop]),
    [
      [true, true],
      [true, true],
    ],
  )
  const [refused = []] = await ack(own.database, [got.map((one) => ackOf(one, 'failed', { leaseId: null }))])
  for (const { success, error } of refused) assert.ok(!success && /committed/i.test(error ?? ''))
  const partitionId = got[0]?.partitionId ?? ''
  assert.equal(await findMessage(own.database, partitionId, 'm1'), null)
  const [again] = await push(own.database, [item('q', 'a', 'm1')])
  assert.deepEqual([again?.status, again?.offset], ['queued', 3])
  await own.database.rows(`select lockstep.seek_partition('q', 'g', 'a', '-infinity')`, [])
  assert.deepEqual((await look(own)).names, ['m3', 'm1'])
  await own.database.rows(`select lockstep.seek_group('q', 'g', '-infinity')`, [])
  assert.deepEqual((await look(own)).names, ['m3', 'm1'])
  const depth = await own.database.rows(
    `select pending from lockstep.queue_depth('q', 'g') where partition is null`,
    [],
  )
  assert.deepEqual(depth, [['2']])
})

test('what failures and lapses counted for a message goes with it', async (t) => {
  const own = await open(t, { retentionSeconds: 100, retryLimit: 1, retryDelay: 0 })
  await store(own, 'a', 'm1')
  await ack(own.database, [(await look(own)).got.map((one) => ackOf(one, 'failed'))])
  await moveClock(own, 101)
  await store(own, 'a', 'm2')
  assert.equal(await retain(own), 1)
  const [answers] = await ack(own.database, [(await look(own)).got.map((one) => ackOf(one, 'failed'))])
  assert.deepEqual([answers?.[0]?.success, answers?.[0]?.dlq], [true, false])
  assert.deepEqual((await look(own)).names, ['m2'])
})

test('a walk takes its partitions in bounded steps, and processes share it', async (t) => {
  const own = await open(t, { retentionSeconds: 5 })
  const names = Array.from({ length: 1_250 }, (_, at) => `p${at}`)
  await push(
    own.database,
    names.map((name) => item('q', name, name)),
  )
  await moveClock(own, 6)
  const [one, other] = [cutLogs(), cutLogs()]
  assert.deepEqual(await one.step(own.database), { done: 0, more: true })
  assert.deepEqual(await other.step(own.database), { done: 0, more: false }, 'taken by the first')
  const steps: number[] = []
  for (;;) {
    const { done, more } = await one.step(own.database)
    if (!more) break
    steps.push(done)
  }
  assert.equal(Math.max(...steps), 100)
  assert.equal(
    steps.reduce((sum, done) => sum + done, 0),
    1_250,
  )
  assert.equal(await run(own, removeCut()), 1_250)
  await assertSound(own)
})

test('deletion goes in steps that are bounded in messages and in bytes', async (t) => {
  const own = await open(t, { retentionSeconds: 5 })
  for (let at = 0; at < 12; at += 1) await store(own, 'a', ...Array.from({ length: 1000 }, (_, n) => `${at}-${n}`))
  await moveClock(own, 6)
  await run(own, cutLogs())
  const job = removeCut()
  const steps: number[] = []
  for (;;) {
    const { done, more } = await job.step(own.database)
    if (!more) break
    steps.push(done)
    await assertSound(own)
  }
  assert.deepEqual(steps, [5000, 5000, 2000])
  await store(own, 'a', ...Array.from({ length: 50 }, (_, n) => `big-${n}`))
  await own.database.rows(
    `update lockstep.message set payload = (select to_json(string_agg(md5(i::text), '')) from generate_series(1, 65536) i)::text returning id`,
    [],
  )
  await moveClock(own, 6)
  assert.equal(await run(own, cutLogs()), 50)
  const { done } = await job.step(own.database)
  assert.ok(done > 0 && done < 50, String(done))
  await assertSound(own)
})

test('a queue that is deleted while messages of it are still to be deleted leaves nothing behind', async (t) => {
  const own = await open(t, { retentionSeconds: 5 })
  await store(own, 'a', 'm1', 'm2')
  await moveClock(own, 6)
  await store(own, 'a', 'm3')
  assert.equal(await run(own, cutLogs()), 2)
  await own.database.rows(`select lockstep.delete_queue('q')`, [])
  await run(own, removeQueues())
  await run(own, removeCut())
  const left = await own.database.rows(
    'select (select count(*) from lockstep.message), (select count(*) from lockstep.queue)',
    [],
  )
  assert.deepEqual(left, [['0', '0']])
})

test('dead letters go after deadLetterRetentionSeconds, where a queue names one', async (t) => {
  const own = await open(t, { deadLetterRetentionSeconds: 100 })
  await push(own.database, [item('kept', 'a', 'k1')])
  await store(own, 'a', 'm1', 'm2')
  const bury = async (queue: string) => {
    const [one] = (await pop(own.database, popOf(queue, 'g', { batch: 1 }))).answers.flat()
    if (one !== undefined) await ack(own.database, [[ackOf(one, 'dlq')]])
  }
  await bury('q')
  await bury('kept')
  await moveClock(own, 60)
  await bury('q')
  await moveClock(own, 50)
  assert.equal(await run(own, jobNamed('expire_dead_letters')), 1)
  assert.equal(await run(own, jobNamed('expire_dead_letters')), 0)
  const rows = await own.database.rows('select transaction_id from lockstep.dead_letter order by 1', [])
  assert.deepEqual(rows.flat(), ['k1', 'm2'])
})
