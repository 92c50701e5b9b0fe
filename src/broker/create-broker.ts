// The broker: an HTTP server over one PostgreSQL. It keeps no state that matters, so any number may run side by side.
// Start and stop are idempotent and wait for everything; a stop claims nothing more, answers parked polls empty, finishes
// what is in flight, hands back what could not be delivered, and then closes.
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Server } from 'node:http'
import type { Pool } from 'pg'
import { checkSchema } from '../db/migrate/schema-state.ts'
import { openDatabase } from '../db/pool.ts'
import type { Database } from '../db/pool.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import { createHints } from '../traffic/hints.ts'
import type { Hints } from '../traffic/hints.ts'
import { createRunTraffic } from '../traffic/run-traffic.ts'
import { createTraffic } from '../traffic/traffic.ts'
import { Upkeep } from '../upkeep/runner.ts'
import { demandLoopback, hostRule } from './config.ts'
import { createHealthCheck } from './health-check.ts'
import { createAnswerBytes } from './http/answer-bytes.ts'
import { createRequestDesk } from './http/handle-request.ts'
import type { RequestDesk } from './http/handle-request.ts'
import { createBodyReader } from './http/read-body.ts'
import { refuseBytes } from './http/refuse-bytes.ts'
import { ROUTES } from './http/routes.ts'
import { silent } from './logger.ts'
import type { Logger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import type { BrokerParts } from './parts.ts'
import { packageVersion } from './package-version.ts'

export interface BrokerOptions {
  /** Where PostgreSQL is; or the application's own pool. */
  readonly connectionString?: string
  readonly pool?: Pool
  /** Size of the broker's own pool. */
  readonly connections?: number
  readonly host?: string
  /** 0 takes a free one. */
  readonly port?: number
  /** Listen beyond loopback although there is no authentication. */
  readonly allowOpen?: boolean
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

export interface Broker {
  start(): Promise<void>
  stop(): Promise<void>
  /** Like `http://127.0.0.1:6632`; only between start and stop. */
  readonly address: string
}

const DEFAULT_PORT = 6632
const DEFAULT_DRAIN_MS = 10_000
/** Of the pool, for hints to other processes and for upkeep. */
const KEPT_FOR_OTHERS = 1
/** A client that sends its headers or body slower than this is cut; so is a connection that carries nothing. */
const HEADERS_MS = 30_000
const REQUEST_MS = 60_000
const KEEP_ALIVE_MS = 75_000
const SILENCE_MS = 120_000
const CHECK_MS = 2_000
const SOCKETS = LIMITS.parkedPolls + 5_000

interface Running {
  readonly server: Server
  readonly desk: RequestDesk
  readonly parts: BrokerParts
  readonly database: Database
  readonly hints: Hints
  readonly upkeep: Upkeep
  readonly sockets: ReadonlySet<Socket>
}

export function createBroker(options: BrokerOptions): Broker {
  const { host = '127.0.0.1', port = DEFAULT_PORT, logger = silent } = options
  let running: Running | null = null
  let starting: Promise<void> | null = null
  let stopping: Promise<void> | null = null

  async function open(): Promise<void> {
    demandLoopback(host, options.allowOpen ?? false)
    const connections = options.connections ?? options.pool?.options.max ?? LIMITS.poolConnections
    const database = openDatabase({
      ...(options.pool === undefined ? {} : { pool: options.pool }),
      ...(options.connectionString === undefined ? {} : { connectionString: options.connectionString }),
      connections,
      applicationName: 'lockstep-broker',
      onConnectionLost: (error) => logger.error('connection lost', { message: error.message }),
    })
    const started = assemble(database, connections)
    try {
      await demandSchema(database)
      await listen(started.server, port, host)
    } catch (error) {
      await database.close()
      throw error
    }
    started.hints.listen(started.parts.traffic.parking, started.parts.runs)
    if (options.upkeep ?? true) started.upkeep.start()
    running = started
    logger.info('listening', { address: addressOf(started.server, host) })
  }

  /** A schema that does not fit is refused; a PostgreSQL that does not answer yet is waited for, with health red. */
  async function demandSchema(database: Database): Promise<void> {
    try {
      await checkSchema(database)
    } catch (error) {
      if (!(error instanceof LockstepError) || error.code !== 'unavailable') throw error
      logger.error('PostgreSQL does not answer yet', { message: error.message })
    }
  }

  function assemble(database: Database, connections: number): Running {
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
    const upkeep = new Upkeep({
      db: database,
      onPlaced: (queue) => traffic.committed(queue),
      onReport({ job, error }) {
        if (error !== null) logger.error('a step of upkeep failed', { job, message: messageOf(error) })
      },
    })
    const bodies = createBodyReader()
    const parts: BrokerParts = {
      database,
      traffic,
      runs,
      health: createHealthCheck(database, traffic.admission),
      metrics: createMetrics({
        traffic,
        bodyBytes: () => bodies.bytes,
        answerBytes: () => answers.bytes,
        pool: database.pool,
        hints,
      }),
      logger,
      version: packageVersion(),
      defaultMode: options.defaultSubscriptionMode ?? 'new',
      answers,
      hosts: hostRule(host, options.hostNames ?? []),
      requireLease: options.requireLease ?? false,
    }
    const desk = createRequestDesk(parts, ROUTES, bodies)
    const server = createServer(
      {
        maxHeaderSize: LIMITS.headerBytes,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
        noDelay: true,
      },
      desk.listener,
    )
    server.timeout = SILENCE_MS
    server.maxConnections = SOCKETS
    server.on('checkContinue', desk.listener)
    server.on('clientError', refuseBytes)
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', (reset) => {
        sockets.delete(socket)
        if (reset) desk.reset(socket)
      })
    })
    return { server, desk, parts, database, hints, upkeep, sockets }
  }

  async function close(): Promise<void> {
    if (starting) await starting.catch(() => {})
    const closing = running
    running = null
    if (!closing) return
    const { server, desk, parts, database, hints, upkeep, sockets } = closing
    // It listens until the end: who comes now is told that this one is going, and is not cut off.
    parts.health.drain()
    desk.drain()
    const finished = Promise.all([parts.traffic.drain(), parts.runs.drain(), desk.idle()])
    const clean = await within(finished, options.drainMs ?? DEFAULT_DRAIN_MS)
    if (!clean) logger.error('stop cut requests in flight', { connections: sockets.size })
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
    // What was on its way to a cut connection is handed back before the pool goes.
    await within(parts.traffic.drain(), LIMITS.statementTimeoutMs)
    await Promise.all([hints.stop(), upkeep.stop()])
    await database.close()
    logger.info('stopped', { clean })
  }

  return {
    start() {
      starting ??= open().catch((error: unknown) => {
        starting = null
        throw error
      })
      return starting
    },
    stop() {
      stopping ??= close().finally(() => {
        starting = null
        stopping = null
      })
      return stopping
    },
    get address() {
      if (!running) throw new Error('the broker is not started')
      return addressOf(running.server, host)
    },
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: 4_096 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function addressOf(server: Server, host: string): string {
  const address: AddressInfo | string | null = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
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
