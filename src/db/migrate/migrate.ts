// Brings a database up to this package: each pending migration in a transaction of its own with a short lock timeout that is
// retried, then the functions as one set. Forward only; one process at a time; nothing to do is nothing done.
import { setTimeout as sleep } from 'node:timers/promises'
import { LockstepError } from '../../protocol/errors.ts'
import { faultOf, sqlstateOf } from '../pg-errors.ts'
import type { Database } from '../pool.ts'
import { openTransaction, type OpenTransaction } from '../transaction.ts'
import { applyFunctions } from './apply-functions.ts'
import { grantedRoles, grantStatements, revokeFromPublic } from './grant.ts'
import { packageSource, type Migration, type SchemaSource } from './schema-source.ts'
import { demandUnchanged, readState, statusOf } from './schema-state.ts'

export interface MigrateOptions {
  /** Also give this role the right to use the functions. */
  readonly grant?: string
  /** How long to keep trying for locks and for another migrating process, in all. */
  readonly waitMs?: number
  readonly onProgress?: (line: string) => void
  /** What to apply; this package by default. */
  readonly source?: SchemaSource
}

export interface MigrateReport {
  readonly applied: readonly string[]
  /** newer: a later package applied its own, which serve this code too. */
  readonly functions: 'applied' | 'unchanged' | 'newer'
  /** The grants that were run. */
  readonly granted: readonly string[]
}

const LOCK_TIMEOUT_MS = 2_000
const WAIT_MS = 60_000
/** Any number that other software is unlikely to lock: the first bytes of sha256('lockstep.migrate'). */
const MIGRATION_LOCK = '-6563628758473754771'

export async function migrate(database: Database, options: MigrateOptions = {}): Promise<MigrateReport> {
  const source = options.source ?? packageSource()
  const say = options.onProgress ?? (() => {})
  const giveUpAt = Date.now() + (options.waitMs ?? WAIT_MS)
  const locked = <T>(work: (tx: OpenTransaction) => Promise<T>): Promise<T> => underLock(database, work, giveUpAt, say)

  await demandServer(database)
  const applied: string[] = []
  for (const migration of source.migrations) {
    const done = await locked((tx) => applyMigration(tx, migration, source))
    if (done) applied.push(migration.name)
    if (done) say(`applied ${migration.name}`)
  }
  const functions = await locked((tx) => replaceFunctions(tx, source))
  if (functions === 'applied') say(`applied ${source.functions.length} functions`)
  const { grant } = options
  const granted = grant === undefined ? [] : await locked((tx) => runGrants(tx, [grant]))
  return { applied, functions, granted }
}

async function applyMigration(tx: OpenTransaction, migration: Migration, source: SchemaSource): Promise<boolean> {
  const state = await readState(tx)
  demandUnchanged(state, source)
  if (state.applied.some((one) => one.number === migration.number)) return false
  if (!state.present) await tx.client.query(source.record)
  await tx.client.query(migration.text)
  await tx.rows(
    `insert into lockstep.migration (number, name, checksum, breaking, phase, applied_at)
     values ($1::int, $2, $3, $4::boolean, $5, clock_timestamp())`,
    [String(migration.number), migration.name, migration.checksum, String(migration.breaking), migration.phase],
  )
  return true
}

async function replaceFunctions(tx: OpenTransaction, source: SchemaSource): Promise<MigrateReport['functions']> {
  const status = statusOf(await readState(tx), source)
  if (status.functions === 'current') return 'unchanged'
  if (status.functions === 'newer') return 'newer'
  await applyFunctions(tx.client, source.functions)
  await revokeFromPublic(tx.client)
  await runGrants(tx, await grantedRoles(tx))
  await tx.rows(
    `insert into lockstep.function_set (single, checksum, version, applied_at) values (true, $1, $2, clock_timestamp())
     on conflict (single) do update
     set checksum = excluded.checksum, version = excluded.version, applied_at = excluded.applied_at`,
    [source.functionsChecksum, source.version],
  )
  return 'applied'
}

async function runGrants(tx: OpenTransaction, roles: readonly string[]): Promise<readonly string[]> {
  const run: string[] = []
  for (const role of roles) {
    for (const statement of await grantStatements(tx, role)) {
      await tx.rows(statement, [])
      run.push(statement)
    }
  }
  return run
}

/** One transaction under the migration lock, again and again while a lock is not had in time. */
async function underLock<T>(
  database: Database,
  work: (tx: OpenTransaction) => Promise<T>,
  giveUpAt: number,
  say: (line: string) => void,
): Promise<T> {
  for (;;) {
    const tx = await openTransaction(database, { lockTimeoutMs: LOCK_TIMEOUT_MS, statementTimeoutMs: 0 })
    try {
      await tx.client.query(
        'set local client_min_messages = warning; set local search_path = pg_catalog, lockstep, pg_temp',
      )
      await tx.rows(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, [])
      const result = await work(tx)
      await tx.commit()
      return result
    } catch (error) {
      await tx.rollback()
      if (sqlstateOf(error) !== '55P03') throw described(error)
      if (Date.now() > giveUpAt) {
        throw new LockstepError(
          'busy',
          'Another process is migrating, or an open transaction holds a table.',
          {},
          error,
        )
      }
      say('waiting for a lock: another process is migrating, or an open transaction holds a table')
      await sleep(100 + Math.random() * 200)
    }
  }
}

/** Whoever migrates must see what PostgreSQL said, not only that it said something. */
function described(error: unknown): unknown {
  if (error instanceof LockstepError || !(error instanceof Error)) return error
  const sqlstate = sqlstateOf(error)
  if (sqlstate === null) return faultOf(error, { commitSent: false })
  return new LockstepError(
    'internal',
    `Migrating failed, and nothing of this step was kept: ${error.message}`,
    { sqlstate },
    error,
  )
}

async function demandServer(database: Database): Promise<void> {
  const [row] = await database.reader.rows(
    `select current_setting('server_version_num'), current_setting('server_version'), current_setting('server_encoding')`,
    [],
  )
  if (Number(row?.[0]) < 140_000) {
    throw new LockstepError(
      'not_available',
      `PostgreSQL 14 or newer is needed; this server is ${row?.[1] ?? 'unknown'}.`,
    )
  }
  if (row?.[2] !== 'UTF8') {
    throw new LockstepError(
      'not_available',
      `The database must be encoded in UTF8; this one is ${row?.[2] ?? 'unknown'}.`,
    )
  }
}
