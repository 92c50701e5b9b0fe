import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ack } from '../operations/ack.ts'
import { pop } from '../operations/pop.ts'
import { mintId } from '../protocol/mint-id.ts'
import { createTestDatabase } from '../testing/database.ts'
import { fault, lockstepOn, parsed, run, type Ended } from '../testing/run-program.ts'

describe('queue list, show and delete', () => {
  it('count what waits, page through partitions, and name a queue that was perhaps meant', async (t) => {
    const lockstep = await lockstepOn(t)
    assert.match((await lockstep('queue', 'list')).out, /There is no queue/)
    for (const name of ['a', 'b', 'c']) await lockstep('queue', 'push', 'orders', '1', '--partition', name)
    await lockstep('queue', 'pop', 'orders', '--group', 'g', '--partition', 'a', '--ack')

    const { queues } = parsed(await lockstep('queue', 'list', '--json'))
    assert.ok(Array.isArray(queues))
    assert.equal(queues.length, 1)
    const { queue, partitions, messages } = queues[0]
    assert.deepEqual([queue, partitions, messages.pending, messages.completed], ['orders', 3, 2, 1])
    assert.match((await lockstep('queue', 'list')).out, /^queue +partitions +pending.*\norders +3 +2 +0 +1 +0/)

    const shown = await lockstep('queue', 'show', 'orders', '--limit', '2')
    assert.match(shown.out, /2 pending, 0 leased, 1 done, 0 dead letters, in 3 partitions/)
    assert.match(shown.out, /more: lockstep queue show orders --after b/)
    assert.match((await lockstep('queue', 'show', 'orders', '--after', 'b', '--json')).out, /"partition":"c"/)

    const unknown = await lockstep('queue', 'show', 'ordres', '--json')
    assert.equal(unknown.status, 1)
    assert.equal(fault(unknown).code, 'not_found')
    assert.match(String(fault(unknown).message), /no queue ordres; did you mean orders\?/)
  })

  it('pop and seek of a mistyped queue name the one that was meant and make none', async (t) => {
    const lockstep = await lockstepOn(t)
    await lockstep('queue', 'push', 'orders', '1')
    for (const words of [
      ['queue', 'pop', 'ordres'],
      ['group', 'seek', 'ordres', 'g', '--to', 'start'],
    ]) {
      const ended = await lockstep(...words)
      assert.equal(ended.status, 1)
      assert.match(ended.err, /no queue ordres; did you mean orders\?/)
    }
    assert.equal((await lockstep('queue', 'push', '', '1')).status, 2)
    assert.doesNotMatch((await lockstep('queue', 'list')).out, /ordres/)
  })

  it('delete only what was said yes to', async (t) => {
    const lockstep = await lockstepOn(t)
    await lockstep('queue', 'push', 'orders', '1')
    const asked = await lockstep('queue', 'delete', 'orders')
    assert.equal(asked.status, 2)
    assert.match(asked.err, /Delete orders with 1 messages.*nothing was done.*lockstep queue delete orders --yes/s)
    assert.match((await lockstep('queue', 'list')).out, /orders/)
    assert.equal((await lockstep('queue', 'delete', 'orders', '--yes')).status, 0)
    assert.match((await lockstep('queue', 'list')).out, /There is no queue/)
    assert.equal((await lockstep('queue', 'delete', 'orders', '--yes')).status, 1)
  })
})

describe('group list and seek', () => {
  it('tell the backlog, replay from the start, leave it behind, and end live leases', async (t) => {
    const lockstep = await lockstepOn(t)
    await lockstep('queue', 'push', 'orders', '1', '--id', 'first')
    assert.equal((await lockstep('queue', 'pop', 'orders', '--group', 'g', '--ack')).status, 0)
    assert.equal((await lockstep('queue', 'pop', 'orders', '--group', 'g')).status, 1)
    assert.equal((await lockstep('group', 'seek', 'orders', 'g', '--to', 'start')).status, 0)
    assert.match((await lockstep('queue', 'pop', 'orders', '--group', 'g', '--keep')).out, /first/)
    assert.match((await lockstep('group', 'list', 'orders')).out, /orders +g +1 +1 +1 /)

    assert.equal(parsed(await lockstep('group', 'seek', 'orders', 'g', '--to', 'end', '--json'))['to'], 'end')
    const { groups } = parsed(await lockstep('group', 'list', '--json'))
    assert.ok(Array.isArray(groups))
    assert.deepEqual([groups[0].totalLag, groups[0].leased], [0, 0])
    assert.equal((await lockstep('queue', 'pop', 'orders', '--group', 'g')).status, 1)
    const then = new Date(Date.now() - 3_600_000).toISOString()
    assert.equal((await lockstep('group', 'seek', 'orders', 'g', '--to', then)).status, 0)
    assert.equal((await lockstep('queue', 'pop', 'orders', '--group', 'g')).status, 0)
  })

  it('refuse a place, a queue and a partition that are not there', async (t) => {
    const lockstep = await lockstepOn(t)
    await lockstep('queue', 'push', 'orders', '1')
    assert.match((await lockstep('group', 'seek', 'orders', 'g')).err, /--to is needed/)
    for (const place of ['yesterday', '2026-02-31', '2026-01-01T00:00:00']) {
      const wrong = await lockstep('group', 'seek', 'orders', 'g', '--to', place)
      assert.equal(wrong.status, 2)
      assert.match(wrong.err, /must be an instant with its time zone.*--to \d{4}-/s)
    }
    assert.match((await lockstep('group', 'seek', 'nope', 'g', '--to', 'end')).err, /There is no queue nope/)
    const nowhere = await lockstep('group', 'seek', 'orders', 'g', '--to', 'end', '--partition', 'zz')
    assert.match(nowhere.err, /no partition zz in orders/)
  })
})

/** A database with one dead letter of queue orders. */
async function withDeadLetter(t: TestContext): Promise<(...words: string[]) => Promise<Ended>> {
  const { connectionString, database } = await createTestDatabase(t)
  const lockstep = (...words: string[]): Promise<Ended> => run(words, { env: { DATABASE_URL: connectionString } })
  await lockstep('queue', 'push', 'orders', '{"n":9007199254740993}', '--id', 'poison', '--partition', 'acme')
  const outcome = await pop(database, {
    queue: 'orders',
    partition: null,
    group: 'g',
    leaseIds: [mintId()],
    batch: 1,
    partitions: 1,
    leaseSeconds: null,
    autoAck: false,
    start: { mode: 'all' },
    floor: null,
    waitStaged: false,
  })
  const message = outcome.answers[0]?.[0]
  assert.ok(message !== undefined)
  const { partitionId, transactionId, leaseId } = message
  const error = 'cannot be parsed\nat line 1'
  await ack(database, [[{ partitionId, transactionId, offset: null, status: 'dlq', error, leaseId, group: 'g' }]])
  return lockstep
}

describe('dlq', () => {
  it('lists why a message was given up and moves it back once', async (t) => {
    const lockstep = await withDeadLetter(t)
    const listed = await lockstep('dlq', 'list', 'orders', '--group', 'g', '--json')
    assert.ok(listed.out.includes('"payload":{"n":9007199254740993}'))
    const { deadLetters } = parsed(listed)
    assert.ok(Array.isArray(deadLetters))
    const { id, transactionId, cause, error } = deadLetters[0]
    assert.deepEqual([transactionId, cause, error], ['poison', 'forced', 'cannot be parsed\nat line 1'])
    assert.match(
      (await lockstep('dlq', 'list')).out,
      /\n[-0-9a-f]{36} +[-0-9]+T[:0-9.]+Z +orders +acme +g +forced +poison +cannot be parsed\\u000aat line 1\n$/,
    )
    assert.match((await lockstep('dlq', 'list', 'other')).out, /There is no dead letter/)
    assert.match((await lockstep('dlq', 'list', '--to', '2020-01-01T00:00:00Z')).out, /There is no dead letter/)

    const shown = await lockstep('dlq', 'show', String(id))
    assert.match(shown.out, /cause +forced[^]*\{"n":9007199254740993\}\n$/)
    assert.equal(parsed(await lockstep('dlq', 'show', String(id), '--json'))['transactionId'], 'poison')

    const lost = await lockstep('dlq', 'replay', '--id', String(id), '--to-queue', 'nowhere')
    assert.equal(lost.status, 1)
    assert.match(lost.out, /Not moved: there is no such queue/)
    assert.match((await lockstep('dlq', 'replay', '--id', String(id))).out, /Moved to orders, partition acme/)
    const again = await lockstep('dlq', 'replay', '--id', String(id))
    assert.equal(again.status, 1)
    assert.match(again.err, /no such dead letter/)
    assert.match((await lockstep('queue', 'pop', 'orders', '--group', 'g')).out, /9007199254740993/)
  })

  it('refuses what is no id', async (t) => {
    const lockstep = await lockstepOn(t)
    for (const line of [
      ['replay', '--id', 'poison'],
      ['show', 'poison'],
    ]) {
      const ended = await lockstep('dlq', ...line)
      assert.equal(ended.status, 2)
      assert.match(ended.err, /'poison' is no id/)
    }
    for (const line of [[], ['orders', '--id', 'x'], ['--id', 'x', '--error', 'y'], ['orders', '--to-queue', 'x']]) {
      assert.equal((await lockstep('dlq', 'replay', ...line)).status, 2, line.join(' '))
    }
  })

  it('replays and purges what the options select, after a dry run that changes nothing', async (t) => {
    const lockstep = await withDeadLetter(t)
    const dry = await lockstep('dlq', 'replay', 'orders', '--error', 'cannot be parsed', '--dry-run')
    assert.deepEqual([dry.status, dry.out], [0, '1 would be moved.\n'])
    assert.equal((await lockstep('dlq', 'replay', 'orders', '--group', 'other')).out, '0 moved.\n')
    assert.equal((await lockstep('dlq', 'purge', 'orders', '--dry-run')).out, '1 would be removed.\n')
    const asked = await lockstep('dlq', 'purge', 'orders', '--error', 'at line 1')
    assert.equal(asked.status, 2)
    assert.match(asked.err, /dlq purge orders --error 'at line 1' --yes/)
    assert.equal((await lockstep('dlq', 'purge', 'orders', '--error', 'other', '--yes')).out, '0 removed.\n')
    assert.equal((await lockstep('dlq', 'replay', 'orders')).out, '1 moved.\n')
    assert.equal((await lockstep('dlq', 'purge', 'orders', '--yes')).out, '0 removed.\n')
    assert.match((await lockstep('dlq', 'purge', 'nowhere', '--yes')).err, /nowhere/)
  })
})
