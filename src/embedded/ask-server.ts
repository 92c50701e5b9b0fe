// Talks to an embedded server as its superuser: whether it answers with our password and serves our data, and the database
// that was asked for. Every question has a time limit.

import { realpathSync } from 'node:fs'
import { Client, escapeIdentifier } from 'pg'
import { reasonOf, systemCode } from './embedded-error.ts'
import { SUPERUSER } from './superuser.ts'

export interface ServerAnswer {
  readonly data: string
}

/** The answer, or why there is none. */
export async function askServer(
  port: number,
  password: string,
  timeoutMs = 10_000,
): Promise<ServerAnswer | { refused: string; code: string }> {
  const client = openClient(port, password, SUPERUSER, timeoutMs)
  try {
    await client.connect()
    const { rows } = await client.query<{ data: string }>(`select current_setting('data_directory') as data`)
    return { data: rows[0]?.data ?? '' }
  } catch (error) {
    return { refused: reasonOf(error), code: systemCode(error) }
  } finally {
    await client.end().catch(() => {})
  }
}

/** True when both paths name the same folder. */
export function sameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false
  }
}

/** Creates the database when it is not there. */
export async function makeDatabase(port: number, password: string, name: string): Promise<void> {
  const client = openClient(port, password, SUPERUSER, 60_000)
  try {
    await client.connect()
    const known = await client.query('select from pg_database where datname = $1', [name])
    if (known.rowCount === 0) await client.query(`create database ${escapeIdentifier(name)}`)
  } finally {
    await client.end().catch(() => {})
  }
}

function openClient(port: number, password: string, database: string, timeoutMs: number): Client {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    // Nothing of the caller's PG* environment may steer this connection.
    ssl: false,
    options: '',
  })
  // A server that ends while we are connected says so here; the query that was waiting rejects by itself.
  client.on('error', () => {})
  return client
}
