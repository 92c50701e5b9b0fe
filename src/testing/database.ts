// A migrated database of its own for a test: a clone of a template that the first asker on a server makes. Real PostgreSQL
// always. A failed test's database is kept and named; everybody else's is gone when its test ends.
import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { migrate } from '../db/migrate/migrate.ts'
import { packageSource } from '../db/migrate/schema-source.ts'
import { openDatabase, type Database, type DatabaseOptions } from '../db/pool.ts'
import { testServer } from './test-server.ts'

/** What of node:test's context is used; `passed` is absent before Node 20.14, and a failed database is then not kept. */
export interface TestEnd {
  after(work: () => Promise<void>): void
  diagnostic(message: string): void
  readonly passed?: boolean
}

export interface TestDatabase {
  readonly name: string
  readonly connectionString: string
  /** A pool on it, ended with it. */
  readonly database: Database
  /** A further client of one's own, ended with it. */
  readonly connect: () => Promise<Client>
  /** Ends all connections and drops it. Idempotent. */
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions extends Pick<
  DatabaseOptions,
  'connections' | 'lockTimeoutMs' | 'statementTimeoutMs'
> {
  /** False: an empty database, without the schema. */
  readonly migrated?: boolean
}

/** With a test's context it drops itself when that test has passed. */
export async function createTestDatabase(
  t: TestEnd | null = null,
  options: TestDatabaseOptions = {},
): Promise<TestDatabase> {
  const { migrated = true, ...pool } = options
  const name = `lockstep_test_${slug()}_${randomBytes(4).toString('hex')}`
  const template = migrated ? await templateDatabase() : 'template0'
  await administer((client) => client.query(`create database ${name} template ${template}`))
  const connectionString = await urlOf(name)
  const database = openDatabase({ connectionString, ...pool })
  const clients: Client[] = []
  let dropping: Promise<void> | null = null

  async function close(): Promise<void> {
    // A client that a test never gave back would keep its pool from ending; its connection is gone by then.
    const ending = Promise.all([database.close(), ...clients.map((client) => client.end().catch(() => {}))])
    const ended = new AbortController()
    await Promise.race([ending, sleep(1_000, undefined, { signal: ended.signal }).catch(() => {})])
    ended.abort()
  }
  async function dropOnce(): Promise<void> {
    await administer(async (client) => {
      await endSessions(client, name)
      await client.query(`drop database if exists ${name} with (force)`)
    })
    await close()
  }
  const drop = (): Promise<void> => (dropping ??= dropOnce())

  t?.after(async () => {
    if (t.passed !== false) return drop()
    t.diagnostic(`kept database: ${name}`)
    await disconnect(name)
    return close()
  })
  return {
    name,
    connectionString,
    database,
    drop,
    async connect() {
      const client = new Client({ connectionString })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      return client
    },
  }
}

/** Runs statements in the maintenance database of the test server. */
export async function administer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: await testServer() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function disconnect(name: string): Promise<void> {
  await administer((client) => endSessions(client, name))
}

/** Ends them and sees them gone, for a while: a drop that still meets one looks again only every 100 ms. */
async function endSessions(client: Client, name: string): Promise<void> {
  const statement = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'
  for (let looks = 0; looks < 50; looks++) {
    const { rowCount } = await client.query(statement, [name])
    if (rowCount === 0) return
    await sleep(2)
  }
}

let template: Promise<string> | null = null

function templateDatabase(): Promise<string> {
  template ??= makeTemplate()
  return template
}

async function makeTemplate(): Promise<string> {
  const source = packageSource()
  const sums = source.migrations.map((migration) => migration.checksum.slice(0, 4)).join('')
  const name = `lockstep_template_${sums.slice(-16)}_${source.functionsChecksum.slice(0, 12)}`
  return administer(async (client) => {
    await client.query(`select pg_advisory_lock(hashtext('lockstep test template'))`)
    const found = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [name])
    if (found.rowCount === 1) return name
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name} template template0`)
    const database = openDatabase({ connectionString: await urlOf(name), connections: 1 })
    try {
      await migrate(database)
    } finally {
      await database.close()
    }
    // A template with a connection cannot be cloned: nobody may open one.
    await client.query(`alter database ${name} with is_template true allow_connections false`)
    return name
  })
}

async function urlOf(database: string): Promise<string> {
  const url = new URL(await testServer())
  url.pathname = `/${database}`
  return url.href
}

function slug(): string {
  return basename(process.argv[1] ?? 'unknown')
    .replace(/\.test\.(js|ts)$/, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 30)
}
