// The user's side of a PostgreSQL transaction, named by shape so that no public type needs the driver's types.

export interface QueryResult<Row> {
  readonly rows: Row[]
  readonly rowCount: number | null
  readonly command: string
}

/** A `pg` client inside BEGIN, or anything that queries like one. */
export interface TransactionClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- rows have the shape their statement gives them, as in pg
  query<Row = any>(text: string, values?: unknown[]): Promise<QueryResult<Row>>
}
