// A transaction of several statements on one of our connections. It is believed committed only when COMMIT was answered
// with the tag COMMIT: a swallowed failure ends as "not committed", a lost connection as "unknown", and neither as success.
import type { PoolClient } from 'pg'
import { LockstepError } from '../protocol/errors.ts'
import type { Vault } from '../protocol/vault.ts'
import type { Connection } from './connection.ts'
import type { Executor, Param, Row } from './executor.ts'
import { notCommitted } from './pg-errors.ts'
import { opening, type Database, type Timeouts } from './pool.ts'
import { retried } from './retry.ts'
import { COMMIT, type Answer, type Command } from './round-trip.ts'

export interface OpenTransaction extends Executor {
  /** The client itself, for a user's own statements; COMMIT and ROLLBACK on it are ours. */
  readonly client: PoolClient
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
      if (!connection.broken) await connection.rollback()
      connection.release()
      throw error
    }
    return over(connection, [], database.vault)
  })
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

function over(connection: Connection, begin: readonly Command[], vault: Vault | undefined): OpenTransaction {
  let unsent: readonly Command[] = begin
  let ended = false

  async function run(commands: readonly Command[]): Promise<readonly Answer[]> {
    if (ended) throw new LockstepError('not_a_transaction', 'The transaction has ended.')
    const all = [...unsent, ...commands]
    unsent = []
    return connection.run(all)
  }

  return {
    client: connection.client,
    vault,

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
      if (!connection.broken && unsent.length === 0) await connection.rollback()
      connection.release()
    },
  }
}
