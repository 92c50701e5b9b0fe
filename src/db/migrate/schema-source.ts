// What a package brings for the database: its migrations in order and its functions as one set, with the checksums by which
// a changed one is noticed. A malformed file is refused here, before anything is sent.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot, sqlFiles, sqlText, type SqlFile } from '../sql-files.ts'

export interface Migration {
  readonly number: number
  /** File name without .sql: `0001_queue_tables`. */
  readonly name: string
  readonly text: string
  readonly checksum: string
  readonly breaking: boolean
  readonly phase: 'pre' | 'post'
}

export interface SchemaSource {
  /** Version of the package. */
  readonly version: string
  /** Makes the schema and the tables that say what was applied. */
  readonly record: string
  /** Numbered from 1. */
  readonly migrations: readonly Migration[]
  /** In the order in which they are made: private ones first, so that a body checked at creation finds them. */
  readonly functions: readonly SqlFile[]
  readonly functionsChecksum: string
}

/** What this package brings. */
export function packageSource(): SchemaSource {
  return schemaSource(packageVersion(), sqlFiles('migrations'), sqlFiles('functions'))
}

export function schemaSource(
  version: string,
  migrations: readonly SqlFile[],
  functions: readonly SqlFile[],
): SchemaSource {
  const parsed = migrations.map(parseMigration).toSorted((a, b) => a.number - b.number)
  parsed.forEach((migration, index) => {
    if (migration.number !== index + 1)
      throw new Error(`migration ${migration.name} should have the number ${index + 1}`)
  })
  const ordered = functions.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
  return {
    version,
    record: sqlText('record/migration_table.sql'),
    migrations: parsed,
    functions: ordered,
    functionsChecksum: checksum(ordered.map((file) => `${file.path}\n${plain(file.text)}`).join('\n')),
  }
}

/** The function a file defines: its own name. */
export function functionName(file: SqlFile): string {
  return file.path.slice(file.path.lastIndexOf('/') + 1, -'.sql'.length)
}

function parseMigration(file: SqlFile): Migration {
  const name = functionName(file)
  const number = /^(\d{4})_[a-z0-9_]+$/.exec(name)?.[1]
  if (number === undefined) throw new Error(`migration ${file.path} is not named NNNN_words.sql`)
  const header = /^-- breaking: (yes|no) · phase: (pre|post) · locks: \S/.exec(file.text)
  if (header === null) throw new Error(`migration ${name} does not begin with its header line`)
  return {
    number: Number(number),
    name,
    text: file.text,
    checksum: checksum(plain(file.text)),
    breaking: header[1] === 'yes',
    phase: header[2] === 'post' ? 'post' : 'pre',
  }
}

function rank(file: SqlFile): number {
  return functionName(file).startsWith('_') ? 0 : 1
}

/** Line ends do not count: a checkout may have changed them. */
function plain(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))
  if (
    typeof manifest === 'object' &&
    manifest !== null &&
    'version' in manifest &&
    typeof manifest.version === 'string'
  ) {
    return manifest.version
  }
  throw new Error('package.json has no version')
}
