// Compares what the database has with what this code brings, and refuses to serve what does not fit, with the command that
// helps. It only reads.
import { LockstepError } from '../../protocol/errors.ts'
import type { Executor } from '../executor.ts'
import type { Database } from '../pool.ts'
import { packageFound } from '../sql-files.ts'
import { packageSource, type SchemaSource } from './schema-source.ts'

export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly breaking: boolean
}

export interface SchemaState {
  /** False: no lockstep schema at all. */
  readonly present: boolean
  readonly applied: readonly AppliedMigration[]
  readonly functions: { readonly checksum: string; readonly version: string } | null
}

export interface SchemaStatus {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
  /** Applied by a newer package, unknown here. */
  readonly unknown: readonly string[]
  readonly functions: 'current' | 'outdated' | 'newer' | 'missing'
}

export async function readState(db: Executor): Promise<SchemaState> {
  const [found] = await db.rows(
    `select to_regclass('lockstep.migration') is not null, to_regclass('lockstep.function_set') is not null`,
    [],
  )
  if (found?.[0] !== 't') return { present: false, applied: [], functions: null }
  const applied = await db.rows('select number, name, checksum, breaking from lockstep.migration order by number', [])
  const [set] = found[1] === 't' ? await db.rows('select checksum, version from lockstep.function_set', []) : []
  return {
    present: true,
    applied: applied.map(([number, name, checksum, breaking]) => ({
      number: Number(number),
      name: name ?? '',
      checksum: checksum ?? '',
      breaking: breaking === 't',
    })),
    functions: set === undefined ? null : { checksum: set[0] ?? '', version: set[1] ?? '' },
  }
}

/** For `lockstep migrate --status`. Refuses a database whose applied migration was changed since. */
export async function migrationStatus(
  database: Database,
  source: SchemaSource = packageSource(),
): Promise<SchemaStatus> {
  return statusOf(await readState(database.reader), source)
}

export function statusOf(state: SchemaState, source: SchemaSource): SchemaStatus {
  demandUnchanged(state, source)
  const applied = new Set(state.applied.map((one) => one.number))
  const known = source.migrations.length
  return {
    applied: state.applied.map((one) => one.name),
    pending: source.migrations.filter((one) => !applied.has(one.number)).map((one) => one.name),
    unknown: state.applied.filter((one) => one.number > known).map((one) => one.name),
    functions: functionsOf(state, source),
  }
}

/** Throws schema_missing, schema_outdated or schema_newer when this code cannot serve the database as it stands. */
export async function checkSchema(
  database: Database,
  source: SchemaSource | null = packageFound() ? packageSource() : null,
): Promise<void> {
  const state = await readState(database.reader)
  if (!state.present) {
    throw new LockstepError('schema_missing', 'The database has no lockstep schema: run `lockstep migrate`.')
  }
  if (source === null) return
  const status = statusOf(state, source)
  if (status.pending.length > 0 || status.functions === 'outdated' || status.functions === 'missing') {
    const what = status.pending.length > 0 ? `lacks ${status.pending.join(', ')}` : 'has the functions of another build'
    throw new LockstepError('schema_outdated', `The database ${what}: run \`lockstep migrate\`.`, {
      pending: status.pending,
      functions: status.functions,
    })
  }
  const breaking = state.applied.filter((one) => one.number > source.migrations.length && one.breaking)
  if (breaking.length > 0) {
    throw new LockstepError(
      'schema_newer',
      `The database has ${breaking.map((one) => one.name).join(', ')}, which lockstep ${source.version} cannot serve: upgrade the package.`,
      { version: source.version },
    )
  }
}

/** A released migration is frozen: another text under the same number means that two histories met. */
export function demandUnchanged(state: SchemaState, source: SchemaSource): void {
  for (const applied of state.applied) {
    const ours = source.migrations[applied.number - 1]
    if (ours !== undefined && ours.checksum !== applied.checksum) {
      throw new LockstepError(
        'schema_newer',
        `Migration ${applied.name} was changed after it was applied to this database; a released migration stays as it is.`,
        { migration: applied.name, applied: applied.checksum, here: ours.checksum },
      )
    }
  }
}

function functionsOf(state: SchemaState, source: SchemaSource): SchemaStatus['functions'] {
  if (state.functions === null) return 'missing'
  if (state.functions.checksum === source.functionsChecksum) return 'current'
  return isNewer(state.functions.version, source.version) ? 'newer' : 'outdated'
}

/** By the three numbers of a version; released signatures never change, so newer functions serve older code. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [numbers(version), numbers(than)]
  const index = a.findIndex((part, at) => part !== b[at])
  return index !== -1 && (a[index] ?? 0) > (b[index] ?? 0)
}

function numbers(version: string): readonly number[] {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  return [1, 2, 3].map((part) => Number(match?.[part] ?? 0))
}
