// Drizzle on any of its PostgreSQL drivers. `in(drizzleTx(tx))` joins its open transaction; `drizzleSteps(db)` lets a step
// complete in one. It answers success to a COMMIT that became a rollback, so what it says of a commit is never read.
import { is, sql, type SQL } from 'drizzle-orm'
import { PgTransaction } from 'drizzle-orm/pg-core'
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { calmPool } from './calm-pool.ts'
import { firstText, textOfResult } from './first-text.ts'
import { outliveConnection } from './outlive-connection.ts'
import { cutStatement, paramAt } from './placeholders.ts'

/** By shape, so that every driver, schema and version of Drizzle fits. A database, which has no `rollback`, does not. */
export interface DrizzleTransaction {
  execute(query: SQL): PromiseLike<unknown>
  rollback(): never
}

export interface DrizzleDatabase<Tx> {
  transaction<R>(body: (tx: Tx) => Promise<R>, config?: { isolationLevel: 'read committed' }): Promise<R>
}

const READ_COMMITTED = { isolationLevel: 'read committed' } as const

function statementOf(text: string, params: readonly string[]): SQL {
  const { texts, order } = cutStatement(text)
  return sql.join(
    texts.flatMap((piece, at) => {
      const param = order[at]
      return param === undefined ? [sql.raw(piece)] : [sql.raw(piece), sql`${paramAt(params, param)}`]
    }),
  )
}

function door(tx: DrizzleTransaction): Door {
  return {
    async text(statement, params) {
      const result = await tx.execute(statementOf(statement, params))
      // With postgres.js the result is the list of rows itself.
      return Array.isArray(result) ? firstText(result) : textOfResult(result)
    },
  }
}

/** What the `pg` client below says: 'T' inside a transaction. Undefined with drivers that do not say. */
function statusOf(tx: object): unknown {
  const session: unknown = Reflect.get(tx, 'session')
  const client: unknown = typeof session === 'object' && session !== null ? Reflect.get(session, 'client') : null
  if (typeof client !== 'object' || client === null) return undefined
  const ask: unknown = Reflect.get(client, 'getTransactionStatus')
  return typeof ask === 'function' ? Reflect.apply(ask, client, []) : undefined
}

function check(tx: unknown): void {
  if (typeof tx !== 'object' || tx === null || !is(tx, PgTransaction)) {
    refuseTransaction('drizzleTx(tx) takes the tx of db.transaction(async (tx) => …), not the database')
  }
  // Its client is back in the pool by then, where a statement would commit by itself.
  if (statusOf(tx) === 'I') refuseTransaction('drizzleTx(tx) was given a transaction that has ended')
}

export function drizzleTx(tx: DrizzleTransaction): Joinable {
  return joinable({ library: 'drizzle', door: door(tx), check: () => check(tx) })
}

export function drizzleSteps<Tx extends DrizzleTransaction>(db: DrizzleDatabase<Tx>): Completion<Tx> {
  const client: unknown = Reflect.get(db, '$client')
  calmPool(client)
  // That of postgres.js is a function.
  const outlives = typeof client === 'function'
  return {
    library: 'drizzle',
    transaction: async <R>(body: (tx: Tx) => Promise<R>) =>
      outlives
        ? outliveConnection<Tx, R>((work) => db.transaction(work, READ_COMMITTED), body)
        : db.transaction(body, READ_COMMITTED),
    door,
  }
}
