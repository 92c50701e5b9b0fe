// The user's side of a PostgreSQL transaction, named by shape so that no public type needs the driver's types.

import type { Untyped } from './untyped.ts'

export interface QueryResult<Row> {
  readonly rows: Row[]
  readonly rowCount: number | null
  readonly command: string
}

/** A `pg` client inside BEGIN, or anything that queries like one. */
export interface TransactionClient {
  query<Row = Untyped>(text: string, values?: unknown[]): Promise<QueryResult<Row>>
}
