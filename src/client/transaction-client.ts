// The user's side of a PostgreSQL transaction, named by shape so that no public type needs the driver's types.

import type { Untyped } from './untyped.ts'

export interface QueryResult<Row> {
  readonly rows: Row[]
  readonly rowCount: number | null
  readonly command: string
}

/** What `in(tx)` joins: a `pg` client inside BEGIN. A pool, whose statements share no transaction, does not compile. */
export interface OpenClient {
  query(text: string, values?: unknown[]): Promise<unknown>
  readonly totalCount?: never
}

/** The client that a transactional handler holds. */
export interface TransactionClient {
  query<Row = Untyped>(text: string, values?: unknown[]): Promise<QueryResult<Row>>
}
