// Our pool of connections, or the application's own, as an Executor. Each call is a READ COMMITTED transaction of its own,
// sent with its COMMIT in one round trip and believed only from the tag; whatever the role's settings say, they do not reach it.
import { Pool, type ClientConfig } from 'pg'
import { LIMITS } from '../protocol/limits.ts'
import type { Vault } from '../protocol/vault.ts'
import { checkOut, watch, type Connection } from './connection.ts'
import type { Executor, Param, Row } from './executor.ts'
import { notCommitted, outcomeUnknown } from './pg-errors.ts'
import { retried } from './retry.ts'
import { COMMIT, type Command } from './round-trip.ts'

export interface DatabaseOptions {
  /** Where PostgreSQL is; ignored when a pool is given. */
  readonly connectionString?: string
  /** The application's own pool: used, listened to, never ended here. */
  readonly pool?: Pool
  /** Size of our own pool. */
  readonly connections?: number
  readonly applicationName?: string
  /** Keys for payloads at rest. */
  readonly vault?: Vault | undefined
  /** For whom everything is done; default: nobody in particular. */
  readonly acting?: Acting
  readonly lockTimeoutMs?: number
  readonly statementTimeoutMs?: number
  /** How long past the statement's limit an answer is waited for. */
  readonly answerGraceMs?: number
  /** Told when a connection ends by itself; for the log. */
  readonly onConnectionLost?: (error: Error) => void
}

/** For whom a statement is run, for the audit. */
export interface Acting {
  readonly actor: string | null
  readonly requestId: string | null
}

export interface Timeouts {
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
}

/** Each `rows` call commits by itself. */
export interface Database extends Executor {
  /** The same in a read-only transaction: a lost connection means "unavailable", never "unknown". */
  readonly reader: Executor
  /** The same with a commit that does not wait for the disk: for what a crash of the server may undo, as a claim that its
   * token fences, and a hint. */
  readonly forgetful: Executor
  readonly pool: Pool
  readonly timeouts: Timeouts
  /** Settings for a direct connection beside the pool (LISTEN). */
  readonly direct: ClientConfig
  /** The same on behalf of somebody: what is noted of it carries his name. */
  acting(who: Acting): Executor
  checkOut(): Promise<Connection>
  /** Ends our own pool once its clients are back; leaves the application's alone. Idempotent. */
  close(): Promise<void>
}

const ACT = "select set_config('lockstep.actor', $1, true), set_config('lockstep.request_id', $2, true)"

/** Ends with the transaction, like every setting of ours. */
const act = ({ actor, requestId }: Acting): Command => ({ text: ACT, params: [actor ?? '', requestId ?? ''] })

export function openDatabase(options: DatabaseOptions): Database {
  const timeouts: Timeouts = {
    lockTimeoutMs: options.lockTimeoutMs ?? LIMITS.lockTimeoutMs,
    statementTimeoutMs: options.statementTimeoutMs ?? LIMITS.statementTimeoutMs,
  }
  const config = clientConfig(options)
  const pool = options.pool ?? new Pool({ ...config, max: options.connections ?? LIMITS.poolConnections })
  const onLost = options.onConnectionLost ?? (() => {})
  pool.on('error', onLost)
  pool.on('acquire', watch)
  const deadlineMs = timeouts.statementTimeoutMs + (options.answerGraceMs ?? LIMITS.answerGraceMs)
  const connect = (): Promise<Connection> => checkOut(pool, deadlineMs)
  const writing = [...opening(timeouts, 'read write'), ...(options.acting === undefined ? [] : [act(options.acting)])]
  const reading = opening(timeouts, 'read only')
  let closing: Promise<void> | null = null

  const reader: Executor = {
    vault: options.vault,
    rows: (statement, params) => retried(() => read(connect, reading, statement, params)),
  }

  const unhurried = [...writing, { text: 'set local synchronous_commit = off' }]

  return {
    pool,
    timeouts,
    direct: config,
    checkOut: connect,
    vault: options.vault,
    rows: (statement, params) => retried(() => committed(connect, writing, statement, params)),
    acting(who) {
      const begin = [...writing, act(who)]
      // With the reader, as it too commits each statement by itself.
      const own: Pick<Database, 'rows' | 'vault' | 'reader'> = {
        vault: options.vault,
        reader,
        rows: (statement, params) => retried(() => committed(connect, begin, statement, params)),
      }
      return own
    },
    reader,
    forgetful: {
      vault: options.vault,
      rows: (statement, params) => retried(() => committed(connect, unhurried, statement, params)),
    },
    close() {
      closing ??= options.pool === undefined ? pool.end() : Promise.resolve()
      // Our own pool is ended before its sockets are: a server that stops meanwhile still reports to the listener.
      if (options.pool !== undefined) pool.off('error', onLost)
      return closing
    },
  }
}

/** BEGIN and its settings. They end with the transaction, so a transaction pooler between us and the server is no harm. */
export function opening(timeouts: Timeouts | null, access: 'read write' | 'read only'): readonly Command[] {
  // Null: the session's own, which are the user's for his own statements.
  if (timeouts === null) return [{ text: `begin isolation level read committed ${access}` }]
  return [
    { text: `begin isolation level read committed ${access}` },
    { text: `set local lock_timeout = ${timeouts.lockTimeoutMs}` },
    { text: `set local statement_timeout = ${timeouts.statementTimeoutMs}` },
    // Our array literals say NULL; a role's setting must not make a text of it.
    { text: 'set local array_nulls = on' },
  ]
}

async function committed(
  connect: () => Promise<Connection>,
  begin: readonly Command[],
  statement: string,
  params: readonly Param[],
): Promise<readonly Row[]> {
  const connection = await connect()
  try {
    const answers = await connection.run([...begin, { text: statement, params }, COMMIT])
    const end = answers.at(-1)
    const work = answers.at(-2)
    if (end === undefined || work === undefined) throw outcomeUnknown(new Error('an answer is missing'))
    if (end.tag !== 'COMMIT') throw notCommitted(end.tag)
    return work.rows
  } catch (error) {
    if (!connection.broken()) await connection.rollback()
    throw error
  } finally {
    connection.release()
  }
}

async function read(
  connect: () => Promise<Connection>,
  begin: readonly Command[],
  statement: string,
  params: readonly Param[],
): Promise<readonly Row[]> {
  const connection = await connect()
  try {
    // No COMMIT in the same message: nothing was written, so no loss can be "unknown".
    const answers = await connection.run([...begin, { text: statement, params }, { text: 'rollback' }])
    return answers.at(-2)?.rows ?? []
  } catch (error) {
    if (!connection.broken()) await connection.rollback()
    throw error
  } finally {
    connection.release()
  }
}

function clientConfig(options: DatabaseOptions): ClientConfig {
  if (options.pool !== undefined) {
    // pg keeps the password of a pool out of enumeration, so a copy must ask for it by name.
    const { password, ...rest } = { ...options.pool.options, password: options.pool.options.password }
    return password === undefined ? rest : { ...rest, password }
  }
  return {
    ...(options.connectionString === undefined ? {} : { connectionString: options.connectionString }),
    application_name: options.applicationName ?? 'lockstep',
    keepAlive: true,
    keepAliveInitialDelayMillis: LIMITS.keepAliveMs,
    connectionTimeoutMillis: LIMITS.connectTimeoutMs,
  }
}
