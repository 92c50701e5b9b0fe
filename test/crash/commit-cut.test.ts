// B13: the connection dies around the COMMIT of each verb. The effect is there once or not at all, success is never said
// when it is not, "nothing was committed" is never said when it is, and a request id turns "unknown" into the first answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openDatabase, type Database } from '../../src/db/pool.ts'
import { transaction as engineTransaction } from '../../src/db/transaction.ts'
import { ack } from '../../src/operations/ack.ts'
import { closeRequest } from '../../src/operations/close-request.ts'
import { configure } from '../../src/operations/configure.ts'
import { deleteQueue } from '../../src/operations/delete-queue.ts'
import { extend } from '../../src/operations/extend.ts'
import { kv } from '../../src/operations/kv.ts'
import { openRequest } from '../../src/operations/open-request.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { redriveDeadLetter } from '../../src/operations/redrive-dead-letter.ts'
import { release } from '../../src/operations/release.ts'
import { seekGroup } from '../../src/operations/seek-group.ts'
import { transaction } from '../../src/operations/transaction.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import type { Delivery, PushItem } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { TransactionRequest } from '../../src/protocol/transaction.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { startProxy, type CutPoint } from '../../src/testing/proxy.ts'
import { waitFor } from '../../src/testing/sessions.ts'

interface Verb {
  /** Runs over a good connection; what it gives goes to `run`. */
  readonly prepare?: (db: Database) => Promise<Delivery | null>
  readonly run: (db: Database, lease: Delivery) => Promise<unknown>
  /** One row, one number: how often the effect is there. */
  readonly effects: string
}

const item = (transactionId: string | null, partition = 'p'): PushItem => ({
  queue: 'q',
  partition,
  transactionId,
  payload: '{"n":1}',
  traceId: null,
  producerSub: null,
  messageId: mintId(),
})

async function popOne(db: Database): Promise<Delivery | null> {
  const { answers } = await pop(db, {
    queue: 'q',
    partition: null,
    group: 'g',
    leaseIds: [mintId()],
    batch: 1,
    partitions: 1,
    leaseSeconds: 60,
    autoAck: false,
    start: { mode: 'all' },
    floor: null,
    waitStaged: false,
  })
  return answers[0]?.[0] ?? null
}

async function leased(db: Database): Promise<Delivery | null> {
  await push(db, [item('first')])
  return popOne(db)
}

const done = ({ partitionId, transactionId, leaseId, offset }: Delivery) => ({
  partitionId,
  transactionId,
  offset,
  status: 'completed' as const,
  error: null,
  leaseId,
  group: 'g',
})

const step = (lease: Delivery, requestId: string | null): TransactionRequest => ({
  requestId,
  bodyHash: requestId === null ? null : 'hash',
  operations: [
    { type: 'ack', item: done(lease) },
    { type: 'push', item: item('next', 'other') },
  ],
  kv: [{ op: 'incr', ns: 'n', key: 'k', delta: '1', min: null, max: null, ttlSeconds: null, required: false }],
})

const MESSAGES = 'select count(*) from lockstep.message'
const KEY = `select coalesce(sum(value::int), 0) from lockstep.kv where key = 'k'`
const bump = (db: Database): Promise<unknown> =>
  kv(db, [[{ op: 'incr', ns: 'n', key: 'k', delta: '1', min: null, max: null, ttlSeconds: null, required: false }]])

const VERBS: Readonly<Record<string, Verb>> = {
  'push with a transaction id': { run: (db) => push(db, [item('t')]), effects: MESSAGES },
  'push without one': { run: (db) => push(db, [item(null)]), effects: MESSAGES },
  'push of many': {
    run: (db) => push(db, [item('a'), item('b', 'r'), item('c', 's')]),
    effects: `select count(*) / 3.0 from lockstep.message`,
  },
  pop: {
    prepare: async (db) => {
      await push(db, [item('first')])
      return null
    },
    run: popOne,
    effects: 'select count(*) from lockstep.lane where lease_id is not null',
  },
  ack: {
    prepare: leased,
    run: (db, lease) => ack(db, [[done(lease)]]),
    effects: 'select count(*) from lockstep.lane where committed = 1 and lease_id is null',
  },
  extend: {
    prepare: leased,
    run: (db, lease) => extend(db, lease.leaseId, 600),
    effects: `select count(*) from lockstep.lane where lease_expires_at > lockstep.clock() + interval '5 minutes'`,
  },
  release: {
    prepare: leased,
    run: (db, lease) => release(db, lease.leaseId),
    effects: 'select count(*) from lockstep.lane where lease_id is null and available_at is not null',
  },
  kv: { run: bump, effects: KEY },
  'transaction without a request id': {
    prepare: leased,
    run: (db, lease) => transaction(db, [step(lease, null)]),
    effects: `select value::int * (select count(*) from lockstep.message where transaction_id = 'next')
      * (select count(*) from lockstep.lane where committed = 1) from (${KEY}) k(value)`,
  },
  configure: {
    run: (db) => configure(db, { queue: 'q', namespace: null, task: null, options: { leaseTime: 77 }, mode: 'merge' }),
    effects: 'select count(*) from lockstep.queue where lease_seconds = 77',
  },
  'delete queue': {
    prepare: leased,
    run: (db) => deleteQueue(db, 'q'),
    effects: 'select count(*) from lockstep.queue where deleted_at is not null',
  },
  'ack that buries': {
    prepare: leased,
    run: (db, lease) => ack(db, [[{ ...done(lease), status: 'dlq' }]]),
    // Ten for a message that is in neither place or in both.
    effects: `select d + 10 * (d - l) from (select count(*) from lockstep.dead_letter) x(d),
      (select count(*) from lockstep.lane where committed = 1) y(l)`,
  },
  redrive: {
    async prepare(db) {
      const lease = await leased(db)
      if (lease) await ack(db, [[{ ...done(lease), status: 'dlq' }]])
      return lease
    },
    async run(db) {
      const [id] = (await db.reader.rows('select id from lockstep.dead_letter', []))[0] ?? []
      return redriveDeadLetter(db, id ?? '')
    },
    effects: `select s + 10 * (1 - s - d) from (select count(*) from lockstep.staged) x(s),
      (select count(*) from lockstep.dead_letter) y(d)`,
  },
  'seek group': {
    prepare: leased,
    run: (db) => seekGroup(db, { group: 'g', queue: 'q', to: 'end' }),
    effects: `select count(*) from lockstep.consumer_group where subscription_mode = 'all' and starts_at > '-infinity'`,
  },
  'an engine transaction of several statements': {
    run: (db) =>
      engineTransaction(db, async (tx) => {
        const { recorded } = await openRequest(tx, 'r', 'h')
        assert.equal(recorded, null)
        await push(tx, [item('t')])
        await closeRequest(tx, 'r', 'answer')
      }),
    effects: `select (select count(*) from lockstep.message) * (select count(*) from lockstep.request where result = 'answer')`,
  },
}

/** How often the effect must be there, and what is said. Once the tag has come, it is believed: the rest does not matter. */
const POINTS: Readonly<Record<CutPoint, { readonly effects: 0 | 1; readonly said: string | null }>> = {
  'before-commit': { effects: 0, said: 'outcome_unknown' },
  'after-commit': { effects: 1, said: 'outcome_unknown' },
  'before-ready': { effects: 1, said: null },
  'before-answer': { effects: 1, said: 'outcome_unknown' },
}

async function cut(t: Parameters<typeof createTestDatabase>[0], point: CutPoint, verb: Verb): Promise<void> {
  const own = await createTestDatabase(t)
  const lease = (await verb.prepare?.(own.database)) ?? null
  const proxy = await startProxy(own.connectionString)
  const through = openDatabase({ connectionString: proxy.connectionString, connections: 1 })
  await through.rows('select 1', [])

  const wasCut = proxy.cutNext(point)
  const error = await verb.run(through, lease ?? nobody).then(
    () => null,
    (fault: unknown) => fault,
  )
  await wasCut
  await through.close()
  await proxy.stop()

  const effects = async (): Promise<number> => Number((await own.database.rows(verb.effects, []))[0]?.[0])
  await waitFor('the server to end what it had', async () => {
    const rows = await own.database.rows(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'lockstep'
       and backend_start < (select backend_start from pg_stat_activity where pid = pg_backend_pid()) and state <> 'idle'`,
      [],
    )
    return rows.length === 0
  })
  assert.equal(await effects(), POINTS[point].effects)
  assert.equal(error instanceof LockstepError ? error.code : error, POINTS[point].said)
}

const nobody: Delivery = {
  id: '',
  transactionId: '',
  traceId: null,
  payload: '',
  producerSub: null,
  createdAt: '',
  queue: '',
  partitionId: '',
  partition: '',
  leaseId: '',
  consumerGroup: '',
  deliveryAttempt: 0,
  offset: 0,
}

for (const [name, verb] of Object.entries(VERBS)) {
  describe(name, { concurrency: 4 }, () => {
    for (const point of ['before-commit', 'after-commit', 'before-ready', 'before-answer'] as const) {
      const { effects, said } = POINTS[point]
      test(`cut ${point}: the effect is there ${effects} times, and what is said is ${said ?? 'success'}`, (t) =>
        cut(t, point, verb))
    }
  })
}

test('the same request id repeated after "unknown" gives the first answer and one effect, wherever the cut was', async (t) => {
  for (const point of ['before-commit', 'after-commit', 'before-ready', 'before-answer'] as const) {
    const own = await createTestDatabase(t)
    const lease = await leased(own.database)
    assert.ok(lease)
    const proxy = await startProxy(own.connectionString)
    const through = openDatabase({ connectionString: proxy.connectionString, connections: 1 })
    const wasCut = proxy.cutNext(point)
    const first = transaction(through, [step(lease, 'r')])
    await (point === 'before-ready' ? first : assert.rejects(first))
    await wasCut
    const [again] = await transaction(own.database, [step(lease, 'r')])
    assert.ok(typeof again === 'object' && again.success, point)
    assert.equal(again.replayed, point !== 'before-commit')
    assert.deepEqual(await own.database.rows(KEY, []), [['1']])
    assert.deepEqual(await own.database.rows(MESSAGES, []), [['2']])
    await through.close()
    await proxy.stop()
  }
})

test('a COMMIT that the server never answers is unknown after the deadline, and the client is thrown away', async (t) => {
  const own = await createTestDatabase(t)
  const proxy = await startProxy(own.connectionString)
  const through = openDatabase({
    connectionString: proxy.connectionString,
    connections: 1,
    statementTimeoutMs: 10,
    answerGraceMs: 200,
  })
  await through.rows('select 1', [])
  proxy.blackhole()
  await assert.rejects(bump(through), (error) => error instanceof LockstepError && error.code === 'outcome_unknown')
  assert.equal(through.pool.totalCount, 0)
  await proxy.stop()
  await through.close()
})
