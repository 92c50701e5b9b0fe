// The client's way straight to PostgreSQL, in this process: the same joining, parking and gate as the broker's, over one
// pool. Steps whose handlers hold a connection never take all of them, so that a handler which calls the client meanwhile
// cannot starve the commit it waits for. Reached only by `import('#postgres')`.
import type { Pool } from 'pg'
import { foreignDoor } from '../db/foreign-door.ts'
import { checkSchema } from '../db/migrate/schema-state.ts'
import { migrate } from '../db/migrate/migrate.ts'
import { openDatabase, type Database } from '../db/pool.ts'
import { getTimer } from '../operations/get-timer.ts'
import { listTimers } from '../operations/list-timers.ts'
import { LockstepError } from '../protocol/errors.ts'
import { joinsOf } from '../protocol/joinable.ts'
import { LIMITS } from '../protocol/limits.ts'
import { createAdmission, RANK, type Admission } from '../traffic/admission.ts'
import { createRunTraffic } from '../traffic/run-traffic.ts'
import { createHints, type Hints } from '../traffic/hints.ts'
import { createTraffic, type Traffic } from '../traffic/traffic.ts'
import { createFailingJobs } from '../upkeep/failing-jobs.ts'
import { Upkeep } from '../upkeep/runner.ts'
import type { PostgresOptions } from './client-options.ts'
import { isObject } from './foreign-transaction.ts'
import { writesNothing } from './kv-input.ts'
import { errorLine, type Logger } from './logger.ts'
import { vaultOf } from './postgres/vault-of.ts'
import { clientDoor } from './postgres/client-door.ts'
import { joinedTransaction, pushItem } from './postgres/joined-transaction.ts'
import { repeated } from './postgres/repeated.ts'
import { partitionsOf } from '../protocol/pop-request.ts'
import { runStep } from './postgres/run-step.ts'
import { sendTransaction, stepAnswer } from './postgres/send-transaction.ts'
import { deadLetterCalls } from './postgres/dead-letter-calls.ts'
import { groupCalls } from './postgres/group-calls.ts'
import { lookCalls } from './postgres/look-calls.ts'
import { queueCalls } from './postgres/queue-calls.ts'
import { streamCalls } from './postgres/stream-calls.ts'
import { scheduleCalls } from './postgres/schedule-calls.ts'
import type { RunCalls } from '../workflow/run/run-calls.ts'
import type { Heartbeat, HeartbeatPorts } from '../workflow/worker/heartbeat-loop.ts'
import { startHeartbeat } from '../workflow/worker/heartbeat-thread.ts'
import { startWorker } from '../workflow/worker/worker.ts'
import type { JoinedTransaction, Transport } from './transport.ts'

/** Claims, renewals and the calls of handlers keep this many connections whatever the steps do. */
const KEPT_FOR_CALLS = 3
const APPLICATION = 'lockstep-client'

function isPool(value: unknown): value is Pool {
  return (
    isObject(value) &&
    typeof Reflect.get(value, 'connect') === 'function' &&
    typeof Reflect.get(value, 'totalCount') === 'number' &&
    isObject(Reflect.get(value, 'options'))
  )
}

function connectionsOf(options: PostgresOptions): { readonly database: Database; readonly connections: number } {
  const vault = vaultOf(options)
  if (options.pool !== undefined) {
    const { pool } = options
    if (!isPool(pool)) throw new LockstepError('bad_request', 'pool must be a Pool of pg')
    return { database: openDatabase({ pool, applicationName: APPLICATION, vault }), connections: pool.options.max }
  }
  const { connectionString, connections = LIMITS.poolConnections } = options
  if (!Number.isInteger(connections) || connections < 2) {
    throw new LockstepError('bad_request', 'connections must be a whole number of at least 2')
  }
  if (connectionString === undefined) throw new LockstepError('bad_request', 'connectionString is undefined')
  return { database: openDatabase({ connectionString, connections, applicationName: APPLICATION, vault }), connections }
}

/** The schema is looked at once, before the first verb; a refusal is looked at again by the next. */
function schemaGate(database: Database): { passed(): Promise<void>; reset(): void } {
  let check: Promise<void> | null = null
  return {
    async passed() {
      const looking = (check ??= checkSchema(database))
      try {
        await looking
      } catch (error) {
        if (check === looking) check = null
        throw error
      }
    },
    reset() {
      check = null
    },
  }
}

export async function openPostgres(options: PostgresOptions, log: Logger): Promise<Transport> {
  const { database, connections } = connectionsOf(options)
  const traffic: Traffic = createTraffic({
    database,
    connections,
    onCommitted: (hint) => hints.tell(hint),
    onFault: (what, error) => log.warn({ error: errorLine(error) }, what),
  })
  const hints: Hints = createHints({
    database,
    applicationName: 'lockstep-listen',
    onState(state, reason) {
      if (state === 'polling')
        log.warn({ reason }, 'hints of other processes do not arrive; looking at intervals instead')
    },
    onFailure: (error) => log.warn({ error: errorLine(error) }, 'other processes could not be told of a push'),
  })
  // The connection that listens is made when something first waits here, not before.
  const listen = (): void => hints.listen(traffic.parking, runs)
  const runs = createRunTraffic({ database, admission: traffic.admission, tell: (hint) => hints.tell(hint) })
  // A process that consumes also keeps the database in order; there is no leader, and any number may do so.
  const failing = createFailingJobs()
  const upkeep = new Upkeep({
    db: database,
    onPlaced: (queue) => traffic.committed(queue),
    onReport(report) {
      const { job, error } = report
      if (failing(report)?.works !== false) return
      log.warn({ job, error: errorLine(error) }, 'a step of upkeep failed; trying again later')
    },
  })
  const steps: Admission = createAdmission(Math.max(1, connections - KEPT_FOR_CALLS), LIMITS.parkedPolls)
  const schema = schemaGate(database)
  const calls = queueCalls(database, traffic)

  async function call<T>(repeatable: boolean, work: () => Promise<T>): Promise<T> {
    await schema.passed()
    return repeated(repeatable, work)
  }

  const letters = deadLetterCalls(database, traffic, call)
  const runCalls: RunCalls = {
    async submit(given) {
      const submitted = await call(true, async () => runs.submit(given))
      return { runs: submitted, xid: null }
    },
    show: async (runId, xid) => call(true, async () => runs.show(runId, xid)),
    nodes: async (runId) => call(true, async () => runs.nodes(runId)),
    async ended(runId, timeoutMs, signal) {
      listen()
      return runs.ended(runId, timeoutMs, signal)
    },
    cancel: async (runId, reason) => call(true, async () => runs.cancel(runId, reason)),
    retry: async (runId) => call(true, async () => runs.retry(runId)),
    signal: async (runId, name, payload) => call(false, async () => runs.signal(runId, name, payload)),
    wake: async () => runs.wake(null),
  }

  return {
    async push(items) {
      const minted = items.map(pushItem)
      return call(true, async () => traffic.push(minted))
    },

    async pop({ wait, timeoutMs, start, partitions, onConflict, ...wish }, signal) {
      await schema.passed()
      if (wait) listen()
      if (options.upkeep !== false) upkeep.start()
      const asked = {
        ...wish,
        partitions: partitions ?? partitionsOf(wish),
        autoAck: false,
        start: start ?? { mode: 'new' as const },
      }
      return call(false, async () => traffic.pop(asked, wait ? timeoutMs : 0, signal, onConflict))
    },

    ack: async (items) => call(true, async () => traffic.ack(items)),

    renew: async (leaseId, seconds) => call(true, async () => traffic.extend(leaseId, seconds)),

    kv: async (operations) => call(writesNothing(operations), async () => traffic.kv(operations)),

    locks: async (operations) => call(true, async () => traffic.locks(operations)),

    timers: async (operations) => call(false, async () => traffic.timers(operations)),
    timer: async (queue, key) => call(true, async () => getTimer(database.reader, queue, key)),
    timerPage: async (queue, after, limit) => call(true, async () => listTimers(database.reader, queue, after, limit)),

    async transaction(step) {
      return call(true, async () => sendTransaction({ database, traffic, runs }, step))
    },

    async step(ack, body) {
      if (connections < 2)
        throw new LockstepError('bad_request', 'transactional() needs a pool of at least 2 connections')
      await schema.passed()
      const { result, queues, workflows } = await steps.enter(RANK.write, async () => runStep(database, ack, body))
      for (const queue of queues) traffic.committed(queue)
      for (const name of workflows) runs.wake(name)
      return stepAnswer(result)
    },

    async configure(given) {
      const made = await call(true, async () => calls.configure(given))
      if (made.options.encryptionEnabled && database.vault === undefined) {
        log.warn({ queue: made.queue }, 'the queue is to be encrypted, and this client has no encryptionKeys')
      }
      return made
    },
    deleteQueue: async (queue) => call(true, async () => calls.deleteQueue(queue)),

    deadLetters: letters,
    groups: groupCalls(database, traffic, call),
    ...lookCalls(database, call, letters),
    runs: runCalls,
    schedules: scheduleCalls({ database, admission: traffic.admission, call, wake: () => runs.wake(null) }),

    async work(given) {
      // Settings of the application's own pool may hold functions, which cannot cross to a thread.
      const connection = options.pool === undefined ? database.direct : null
      const heartbeat = (beat: HeartbeatPorts, maxStallMs: number): Heartbeat =>
        startHeartbeat({ ...beat, maxStallMs, connection, onNotice: (message) => log.warn({}, message) })
      await schema.passed()
      listen()
      if (options.upkeep !== false) upkeep.start()
      const ports = { database, traffic, runs, calls: runCalls, log, steps, startHeartbeat: heartbeat }
      return startWorker(given, ports)
    },

    streams: async () => streamCalls(database, traffic, call),

    ask: async ({ path }) => {
      throw new LockstepError('not_available', `only a broker serves ${path}: make the client with { url }`)
    },

    async migrate() {
      schema.reset()
      await migrate(database)
    },

    async close() {
      await upkeep.stop()
      await traffic.drain()
      await runs.drain()
      await hints.stop()
      await database.close()
    },
  }
}

export async function joinTransaction(tx: unknown, options: object): Promise<JoinedTransaction> {
  const joins = joinsOf(tx)
  const vault = vaultOf(options)
  if (joins !== null) return joinedTransaction(foreignDoor(joins.door, vault))
  if (!isObject(tx)) throw new LockstepError('not_a_transaction', 'in(tx) takes a pg client after BEGIN')
  return joinedTransaction(foreignDoor(clientDoor(tx), vault))
}
