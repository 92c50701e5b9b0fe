// Hints: they pass between processes in any text, survive a lost connection, say so where they do not pass, and never
// disturb whoever sends or hears them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { administer, createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { startProxy } from '../testing/proxy.ts'
import { waitFor } from '../testing/sessions.ts'
import { readHints, writeHints } from './hint-payload.ts'
import { Listener, type ListenState } from './listen.ts'
import { Notifier } from './notify.ts'
import { openDatabase } from './pool.ts'

interface Heard {
  readonly listener: Listener
  readonly hints: (string | null)[]
  readonly states: ListenState[]
}

function listenTo(
  connectionString: string,
  processId = 'hearer',
  times: { proofMs?: number; answerMs?: number; pollingPauseMs?: number } = {},
): Heard {
  const hints: (string | null)[] = []
  const states: ListenState[] = []
  const listener = new Listener({
    config: { connectionString },
    processId,
    onHints: (heard) => hints.push(...(heard ?? [null])),
    onState: (state) => states.push(state),
    ...times,
  })
  listener.start()
  return { listener, hints, states }
}

const notifierOf = ({ database }: TestDatabase, processId = 'teller', intervalMs = 5): Notifier =>
  new Notifier({ db: database, processId, intervalMs })

test('hints of another process arrive whatever their text, own ones are dropped', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const { listener, hints } = listenTo(own.connectionString)
  await waitFor('the listener', () => listener.state === 'listening')
  const teller = notifierOf(own)
  const self = notifierOf(own, 'hearer')
  const texts = ['orders', 'a\nb', '"\\', '😀', "'; drop table x; --", 'x'.repeat(3000)]
  self.hint('own')
  await self.stop()
  for (const text of texts) teller.hint(text)
  await waitFor('all hints', () => hints.length >= texts.length + 1)
  assert.deepEqual(new Set(hints), new Set([null, ...texts]))
  await teller.stop()
  await listener.stop()
  await listener.stop()
  assert.equal(listener.state, 'stopped')
})

test('many hints of an interval are one notification, and what does not fit says "look everywhere"', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const { listener, hints } = listenTo(own.connectionString)
  await waitFor('the listener', () => listener.state === 'listening')
  hints.length = 0
  const teller = notifierOf(own, 'teller', 50)
  for (let round = 0; round < 1000; round++) teller.hint(`queue ${round % 20}`)
  await waitFor('twenty hints', () => new Set(hints).size === 20)
  assert.ok(teller.sent <= 2)
  for (let index = 0; index < 1000; index++) teller.hint(`partition ${index} ${'x'.repeat(50)}`)
  await teller.stop()
  await waitFor('the hint to look everywhere', () => hints.includes(null))
  await listener.stop()
})

test('a payload is always shorter than what PostgreSQL refuses', () => {
  for (const hint of ['x'.repeat(7_890), '😀'.repeat(4000), '"'.repeat(5000)]) {
    const payload = writeHints('p', [hint])
    assert.ok(Buffer.byteLength(payload) < 8000)
    const heard = readHints(payload)
    assert.ok(heard?.hints === null || heard?.hints[0] === hint)
  }
  for (const foreign of ['', 'hello', '[]', '{}', '[1,2]', '["p",[1]]', '["p"]', 'null']) {
    assert.equal(readHints(foreign), null)
  }
})

test('a lost LISTEN connection is made again, and everything is looked at because hints may have been missed', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const { listener, hints, states } = listenTo(own.connectionString)
  await waitFor('the listener', () => listener.state === 'listening')
  for (let round = 1; round <= 3; round++) {
    await administer((client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_notify%' and datname = $1`,
        [own.name],
      ),
    )
    await waitFor('the second look everywhere', () => hints.filter((hint) => hint === null).length === round + 1)
  }
  assert.deepEqual(states.slice(0, 3), ['listening', 'lost', 'listening'])
  await listener.stop()
})

test('a connection that goes silent without a farewell is noticed and healed', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const proxy = await startProxy(own.connectionString)
  t.after(() => proxy.stop())
  const { listener, states } = listenTo(proxy.connectionString, 'hearer', { proofMs: 20, answerMs: 100 })
  await waitFor('the listener', () => listener.state === 'listening')
  proxy.blackhole()
  await waitFor('the silence to be noticed', () => listener.state === 'lost')
  proxy.resume()
  await waitFor('the listener', () => listener.state === 'listening')
  assert.deepEqual(states, ['listening', 'lost', 'listening'])
  await listener.stop()
})

test('a session that was made to stop listening is noticed', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const proxy = await startProxy(own.connectionString, {
    rewrite: (text) => text.replace(/^listen \w+/, 'listen elsewhere'),
  })
  t.after(() => proxy.stop())
  const { listener, hints } = listenTo(proxy.connectionString, 'hearer', { answerMs: 100 })
  await waitFor('poll-only', () => listener.state === 'polling')
  assert.deepEqual(hints, [])
  await listener.stop()
})

test('behind a pooler it polls, says so once, and leaves no LISTEN on a session of others', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const statements: string[] = []
  // This one would deliver: the session is never shared here. It must not be believed.
  const proxy = await startProxy(own.connectionString, {
    foreignGreeting: true,
    rewrite: (text) => (statements.push(text), text),
  })
  t.after(() => proxy.stop())
  const { listener, hints, states } = listenTo(proxy.connectionString, 'hearer', { pollingPauseMs: 20 })
  const looks = (): number => statements.filter((text) => text.startsWith('select pg_backend_pid')).length
  await waitFor('it to have looked again and again', () => looks() >= 3)
  assert.deepEqual([listener.state, states, hints], ['polling', ['polling'], []])
  assert.deepEqual(
    statements.filter((text) => !text.startsWith('select pg_backend_pid')),
    [],
  )
  await listener.stop()
})

test('a stop is no loss: nothing is told of it', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const { listener, states } = listenTo(own.connectionString)
  await waitFor('the listener', () => listener.state === 'listening')
  await listener.stop()
  assert.deepEqual([listener.state, states], ['stopped', ['listening']])
})

test('a notification that cannot be sent is told and nothing else', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const database = openDatabase({ connectionString })
  await database.close()
  const failures: unknown[] = []
  const teller = new Notifier({
    db: database,
    processId: 'p',
    intervalMs: 1,
    onFailure: (error) => failures.push(error),
  })
  teller.hint('a')
  await teller.stop()
  teller.hint('after the end')
  assert.equal(failures.length, 1)
  assert.equal(teller.sent, 0)
})

test('start and stop in any order leave no connection', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const { listener } = listenTo(own.connectionString)
  listener.start()
  await listener.stop()
  listener.start()
  await waitFor('the listener', () => listener.state === 'listening')
  await listener.stop()
  await waitFor('no connection', async () => {
    const rows = await own.database.reader.rows(
      'select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      [],
    )
    return rows[0]?.[0] === '0'
  })
})
