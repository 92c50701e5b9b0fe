// A transaction of several statements on one of our connections. It is believed committed only when COMMIT was answered
// with the tag COMMIT: a swallowed failure ends as "not committed", a lost connection as "unknown", and neither as success.
import type { PoolClient } from 'pg'
import { LockstepError } from '../protocol/errors.ts'
import type { Vault } from '../protocol/vault.ts'
import { begunQuery } from './begun-query.ts'
import type { Connection } from './connection.ts'
import type { Executor, Param, Row } from './executor.ts'
import { faultOf, notCommitted } from './pg-errors.ts'
import { opening, type Database, type Timeouts } from './pool.ts'
import { retried } from './retry.ts'
import { COMMIT, type Answer, type Command } from './round-trip.ts'

export interface OpenTransaction extends Executor {
  /** The client itself; COMMIT and ROLLBACK on it are ours. */
  readonly client: PoolClient
  /** A user's own statement, given as to pg's `client.query`: in the transaction, or refused. */
  query(...given: readonly unknown[]): unknown
  /** As pg's client says it; a transaction that is still to be begun counts as open. */
  status(): string | null
  /** Runs the last statement and COMMIT in one round trip; returns that statement's rows ([] without one). */
  commit(last?: Command): Promise<readonly Row[]>
  /** Rolls back and gives the connection back; nothing after a commit or a rollback. */
  rollback(): Promise<void>
}

/** Begins at once. The caller must end it by `commit` or `rollback`. */
export function openTransaction(
  database: Database,
  timeouts: Timeouts | null = database.timeouts,
): Promise<OpenTransaction> {
  return retried(async () => {
    const connection = await database.checkOut()
    try {
      await connection.run(opening(timeouts, 'read write'))
    } catch (error) {
      if (!connection.broken()) await connection.rollback()
      connection.release()
      throw error
    }
    return over(connection, [], database.vault)
  })
}

/** Idle for no longer than this a connection is taken for alive: then BEGIN may travel with the first statement. */
const FRESH_MS = 1_000

/**
 * The same for a user's statements, begun by the first of them. A connection that lay idle is begun at once, so that one which
 * the server has closed meanwhile is found out before the user's work depends on it.
 */
export async function beginLazily(database: Database, timeouts: Timeouts | null): Promise<OpenTransaction> {
  const connection = await database.checkOut()
  if (connection.idleMs <= FRESH_MS) return over(connection, opening(timeouts, 'read write'), database.vault)
  connection.release()
  return openTransaction(database, timeouts)
}

/**
 * Runs the work in one transaction; BEGIN travels with its first statement. Deadlocks and serialization failures run the
 * whole work again, so it must have no effect outside of its statements.
 */
export function transaction<T>(database: Database, work: (tx: Executor) => Promise<T>): Promise<T> {
  return retried(async () => {
    const tx = over(await database.checkOut(), opening(database.timeouts, 'read write'), database.vault)
    try {
      const result = await work(tx)
      await tx.commit()
      return result
    } catch (error) {
      await tx.rollback()
      throw error
    }
  })
}

/** Null where an application's own pg is too old to say it. */
function statusOf(client: PoolClient): string | null {
  const status: unknown = Reflect.get(client, 'getTransactionStatus')
  const word: unknown = typeof status === 'function' ? Reflect.apply(status, client, []) : null
  return typeof word === 'string' ? word : null
}

function over(connection: Connection, begin: readonly Command[], vault: Vault | undefined): OpenTransaction {
  let unsent: readonly Command[] = begin
  let ended = false
  /** BEGIN is on its way with a user's statement; rejected when there is no transaction. */
  let beginning: Promise<void> | null = null

  async function run(commands: readonly Command[]): Promise<readonly Answer[]> {
    if (ended) throw new LockstepError('not_a_transaction', 'The transaction has ended.')
    // Without its transaction each statement would commit by itself.
    if (beginning !== null) await beginning
    const first = unsent.length > 0
    const answers = connection.run([...unsent, ...commands])
    unsent = []
    if (first) {
      beginning = answers.then(() => {
        beginning = null
        return undefined
      })
      beginning.catch(() => {})
    }
    return answers
  }

  function pass(given: readonly unknown[]): unknown {
    return Reflect.apply(Reflect.get(connection.client, 'query'), connection.client, given)
  }

  /** When BEGIN was answered; a callback or a query object of the caller's is told of its failure. */
  function passLater(given: readonly unknown[], until: Promise<void>): unknown {
    const [first] = given
    const last = given.at(-1)
    const passed = until.then(() => pass(given))
    if (typeof last === 'function') {
      passed.catch((error: unknown) => Reflect.apply(last, undefined, [error]))
      return undefined
    }
    const fails: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, 'handleError') : null
    if (typeof fails !== 'function') return passed
    passed.catch((error: unknown) => Reflect.apply(fails, first, [error, Reflect.get(connection.client, 'connection')]))
    return first
  }

  function query(...given: readonly unknown[]): unknown {
    if (ended) throw new LockstepError('not_a_transaction', 'The transaction has ended.')
    if (unsent.length === 0) return beginning === null ? pass(given) : passLater(given, beginning)
    const first = begunQuery(unsent, given)
    const commands = unsent
    unsent = []
    const begun = (first === null ? connection.run(commands) : first.begun).then(
      () => {
        beginning = null
        return undefined
      },
      (error: unknown) => {
        throw error instanceof LockstepError ? error : faultOf(error, { commitSent: false })
      },
    )
    begun.catch(() => {})
    beginning = begun
    if (first === null) return passLater(given, begun)
    pass([first.query])
    return first.answer
  }

  return {
    client: connection.client,
    vault,
    query,
    status: () => (!ended && (unsent.length > 0 || beginning !== null) ? 'T' : statusOf(connection.client)),

    async rows(statement: string, params: readonly Param[]): Promise<readonly Row[]> {
      return (await run([{ text: statement, params }])).at(-1)?.rows ?? []
    },

    async commit(last?: Command): Promise<readonly Row[]> {
      if (last === undefined && unsent.length > 0) {
        ended = true
        connection.release()
        return []
      }
      const answers = await run(last === undefined ? [COMMIT] : [last, COMMIT])
      ended = true
      connection.release()
      const tag = answers.at(-1)?.tag ?? ''
      if (tag !== 'COMMIT') throw notCommitted(tag)
      return last === undefined ? [] : (answers.at(-2)?.rows ?? [])
    },

    async rollback(): Promise<void> {
      if (ended) return
      ended = true
      await beginning?.catch(() => {})
      if (!connection.broken() && unsent.length === 0) await connection.rollback()
      connection.release()
    },
  }
}
