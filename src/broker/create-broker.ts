// The broker: an HTTP server over one PostgreSQL. It keeps no state that matters, so any number may run side by side.
// Start and stop are idempotent and wait for everything; a stop claims nothing more, answers parked polls empty, finishes
// what is in flight, hands back what could not be delivered, and then closes.
import type { Pool } from 'pg'
import { checkSchema } from '../db/migrate/schema-state.ts'
import { createVault } from '../db/vault/create-vault.ts'
import { readKeyRing } from '../db/vault/key-ring.ts'
import { showKeys } from '../db/vault/seal-items.ts'
import { openDatabase } from '../db/pool.ts'
import type { Database } from '../db/pool.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import { RANK } from '../traffic/admission.ts'
import { createHints } from '../traffic/hints.ts'
import type { Hints } from '../traffic/hints.ts'
import { createRunTraffic } from '../traffic/run-traffic.ts'
import { createTraffic } from '../traffic/traffic.ts'
import { createFailingJobs } from '../upkeep/failing-jobs.ts'
import { Upkeep } from '../upkeep/runner.ts'
import { createAuthenticator } from './auth/authenticator.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { AuthOptions } from './auth/auth-options.ts'
import { ActivityReporter } from './activity-reporter.ts'
import { declaredOptions } from './ephemeral/declared-options.ts'
import { createEphemeral } from './ephemeral/create-ephemeral.ts'
import { demandLoopback, hostRule, isLoopback } from './config.ts'
import { createHealthCheck } from './health-check.ts'
import { createAnswerBytes } from './http/answer-bytes.ts'
import { createRequestDesk } from './http/handle-request.ts'
import type { RequestDesk } from './http/handle-request.ts'
import { createBodyReader } from './http/read-body.ts'
import { createServing } from './http/serving.ts'
import type { Serving } from './http/serving.ts'
import { ROUTES } from './http/routes.ts'
import { silent } from './logger.ts'
import type { Logger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import type { BrokerParts } from './parts.ts'
import { packageVersion } from './package-version.ts'
import type { TlsOptions } from './tls.ts'

export interface BrokerOptions {
  /** Where PostgreSQL is; or the application's own pool. */
  readonly connectionString?: string
  readonly pool?: Pool
  /** Size of the broker's own pool. */
  readonly connections?: number
  readonly host?: string
  /** 0 takes a free one. */
  readonly port?: number
  /** Listen beyond loopback although no token is checked. */
  readonly allowOpen?: boolean
  /** Ask every request but public ones for a bearer token. */
  readonly auth?: AuthOptions
  /** Keys for the payloads of encrypted queues, the current one first: `name:key` pairs separated by commas. */
  readonly encryptionKeys?: string
  /** Serve HTTPS. */
  readonly tls?: TlsOptions
  /** Names besides localhost under which clients reach it; without any, one beyond loopback answers to every name. */
  readonly hostNames?: readonly string[]
  readonly defaultSubscriptionMode?: 'all' | 'new'
  readonly requireLease?: boolean
  /** Whether this process takes part in the database's upkeep; default true. */
  readonly upkeep?: boolean
  /** How long a stop waits for requests in flight. */
  readonly drainMs?: number
  readonly logger?: Logger
}

export interface Broker extends AsyncDisposable {
  start(): Promise<void>
  stop(): Promise<void>
  /** Like `http://127.0.0.1:6632`; only between start and stop. */
  readonly address: string
}

const DEFAULT_PORT = 6632
const DEFAULT_DRAIN_MS = 10_000
/** Of the pool, for hints to other processes and for upkeep. */
const KEPT_FOR_OTHERS = 1
interface Running {
  readonly serving: Serving
  readonly desk: RequestDesk
  readonly parts: BrokerParts
  readonly database: Database
  readonly hints: Hints
  readonly upkeep: Upkeep
  readonly reporter: ActivityReporter
}

export function createBroker(options: BrokerOptions): Broker {
  const { host = '127.0.0.1', port = DEFAULT_PORT, logger = silent } = options
  let running: Running | null = null
  let starting: Promise<void> | null = null
  let stopping: Promise<void> | null = null

  async function open(): Promise<void> {
    demandLoopback(host, options.auth !== undefined, options.allowOpen ?? false)
    const auth = options.auth
      ? createAuthenticator(options.auth, {
          onFault: (message) => logger.error('keys of the token issuer not fetched', { message }),
        })
      : null
    if (auth && options.tls === undefined && !isLoopback(host)) {
      logger.info('tokens travel in the clear', { host, hint: 'set LOCKSTEP_TLS_CERT_FILE, or let a proxy speak TLS' })
    }
    const connections = options.connections ?? options.pool?.options.max ?? LIMITS.poolConnections
    const database = openDatabase({
      ...(options.pool === undefined ? {} : { pool: options.pool }),
      ...(options.connectionString === undefined ? {} : { connectionString: options.connectionString }),
      connections,
      vault: options.encryptionKeys === undefined ? undefined : createVault(readKeyRing(options.encryptionKeys)),
      applicationName: 'lockstep-broker',
      onConnectionLost: (error) => logger.error('connection lost', { message: error.message }),
    })
    const started = assemble(database, connections, auth)
    try {
      await demandSchema(database)
      await started.serving.listen(port, host)
    } catch (error) {
      await started.serving.close()
      await database.close()
      throw error
    }
    started.hints.listen(started.parts.traffic.parking, started.parts.runs)
    if (options.upkeep ?? true) started.upkeep.start()
    started.reporter.start()
    running = started
    logger.info('listening', { address: started.serving.address(host), tokens: auth !== null })
  }

  /** A schema or keys that do not fit are refused; a PostgreSQL that does not answer yet is waited for, with health red. */
  async function demandSchema(database: Database): Promise<void> {
    try {
      await checkSchema(database)
      await showKeys(database)
    } catch (error) {
      if (!(error instanceof LockstepError) || error.code !== 'unavailable') throw error
      logger.error('PostgreSQL does not answer yet', { message: error.message })
    }
  }

  function assemble(database: Database, connections: number, auth: Authenticator | null): Running {
    const hints = createHints({
      database,
      applicationName: 'lockstep-broker',
      onState: (state, reason) => logger.info('hints of other processes', { state, reason }),
      onFailure: (error) => logger.error('other processes could not be told of a push', { message: messageOf(error) }),
    })
    const answers = createAnswerBytes()
    const traffic = createTraffic({
      database,
      demandRoom: () => answers.demandRoom(),
      connections: Math.max(1, connections - KEPT_FOR_OTHERS),
      onCommitted: (hint) => hints.tell(hint),
      onFault: (what, error) => logger.error(what, { message: messageOf(error) }),
    })
    const runs = createRunTraffic({ database, admission: traffic.admission, tell: (hint) => hints.tell(hint) })
    const ephemeral = createEphemeral({
      declared: () => traffic.admission.enter(RANK.read, () => declaredOptions(database)),
    })
    const bodies = createBodyReader()
    const metrics = createMetrics({
      traffic,
      ephemeral,
      bodyBytes: () => bodies.bytes,
      answerBytes: () => answers.bytes,
      pool: database.pool,
      hints,
    })
    const failing = createFailingJobs()
    const upkeep = new Upkeep({
      db: database,
      onPlaced: (queue) => traffic.committed(queue),
      onReport(report) {
        metrics.upkeep(report.job, report.done, report.seconds, report.error !== null)
        const { job, done, error } = report
        if (job === 'cut_logs' && done > 0) logger.info('retention let messages go', { messages: done })
        const worth = failing(report)
        if (worth?.works === true) logger.info('a job of upkeep works again', { job, failures: worth.failures })
        else if (worth)
          logger.error('a step of upkeep failed', { job, message: messageOf(error), failures: worth.failures })
      },
    })
    const parts: BrokerParts = {
      database,
      traffic,
      runs,
      ephemeral,
      health: createHealthCheck(database, traffic.admission),
      metrics,
      logger,
      version: packageVersion(),
      defaultMode: options.defaultSubscriptionMode ?? 'new',
      answers,
      auth,
      hosts: hostRule(host, options.hostNames ?? []),
      requireLease: options.requireLease ?? false,
    }
    const desk = createRequestDesk(parts, ROUTES, bodies)
    const serving = createServing(desk, options.tls ?? null, logger)
    const reporter = new ActivityReporter(database, traffic.activity, (error) =>
      logger.error('a report of activity failed', { message: messageOf(error) }),
    )
    return { serving, desk, parts, database, hints, upkeep, reporter }
  }

  async function close(): Promise<void> {
    if (starting) await starting.catch(() => {})
    const closing = running
    running = null
    if (!closing) return
    const { serving, desk, parts, database, hints, upkeep, reporter } = closing
    // It listens until the end: who comes now is told that this one is going, and is not cut off.
    parts.health.drain()
    desk.drain()
    parts.ephemeral.drain()
    const finished = Promise.all([parts.traffic.drain(), parts.runs.drain(), desk.idle()])
    const clean = await within(finished, options.drainMs ?? DEFAULT_DRAIN_MS)
    if (!clean) logger.error('stop cut requests in flight', { connections: serving.connections })
    await serving.close()
    // What was on its way to a cut connection is handed back before the pool goes.
    await within(parts.traffic.drain(), LIMITS.statementTimeoutMs)
    await Promise.all([hints.stop(), upkeep.stop(), reporter.stop()])
    await database.close()
    logger.info('stopped', { clean })
  }

  function stop(): Promise<void> {
    stopping ??= close().finally(() => {
      starting = null
      stopping = null
    })
    return stopping
  }

  return {
    start() {
      starting ??= open().catch((error: unknown) => {
        starting = null
        throw error
      })
      return starting
    },
    stop,
    [Symbol.asyncDispose]: stop,
    get address() {
      if (!running) throw new Error('the broker is not started')
      return running.serving.address(host)
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** True when the work ended in time. */
async function within(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | null = null
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const inTime = await Promise.race([work.then(() => true), late])
  if (timer) clearTimeout(timer)
  return inTime
}
