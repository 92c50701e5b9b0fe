// The verbs that write, as they are cut in two: what each needs before, how it is run, and how often its effect is there.
import assert from 'node:assert/strict'
import { transaction as engineTransaction } from '../../src/db/transaction.ts'
import type { Database } from '../../src/db/pool.ts'
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
import { timers } from '../../src/operations/timers.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { Delivery, PushItem } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { TransactionRequest } from '../../src/protocol/transaction.ts'
import { scheduleOf } from '../kit/speech.ts'

export interface Verb {
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

export async function leased(db: Database): Promise<Delivery | null> {
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

export const step = (lease: Delivery, requestId: string | null): TransactionRequest => ({
  requestId,
  bodyHash: requestId === null ? null : 'hash',
  operations: [
    { type: 'ack', item: done(lease) },
    { type: 'push', item: item('next', 'other') },
  ],
  kv: [{ op: 'incr', ns: 'n', key: 'k', delta: '1', min: null, max: null, ttlSeconds: null, required: false }],
  timers: [],
})

export const MESSAGES = 'select count(*) from lockstep.message'
export const KEY = `select coalesce(sum(value::int), 0) from lockstep.kv where key = 'k'`
export const bump = (db: Database): Promise<unknown> =>
  kv(db, [[{ op: 'incr', ns: 'n', key: 'k', delta: '1', min: null, max: null, ttlSeconds: null, required: false }]])

export const VERBS: Readonly<Record<string, Verb>> = {
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
  timers: {
    run: (db) => timers(db, [[scheduleOf('q', 'k', { delayMs: 60_000 })]]),
    effects: 'select count(*) from lockstep.timer',
  },
  'firing of a timer': {
    prepare: async (db) => {
      await timers(db, [[scheduleOf('q', 'k', {})]])
      return null
    },
    run: (db) => db.rows(`select lockstep.fire_timers('q', '{k}')`, []),
    // Ten for a timer that is in neither place or in both.
    effects: `select s + 10 * (1 - s - n) from (select count(*) from lockstep.staged) x(s), (select count(*) from lockstep.timer) y(n)`,
  },
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

/** Stands where a verb needs no lease. */
export const nobody: Delivery = {
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
