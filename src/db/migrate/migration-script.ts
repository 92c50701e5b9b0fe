// `lockstep migrate --print`: everything a fresh database needs as one script for psql, for those who let nobody but their
// own tools change a schema. It records itself as `migrate` would, so that the two can be used in turn.
import { packageSource, type SchemaSource } from './schema-source.ts'

export function migrationScript(source: SchemaSource = packageSource()): string {
  const parts = [
    `-- lockstep ${source.version}: the whole schema, for an empty database. PostgreSQL 14 or newer, UTF8.`,
    'begin;',
    `set local lock_timeout = '2s';`,
    'set local search_path = pg_catalog, lockstep, pg_temp;',
    source.record.trim(),
    ...source.migrations.flatMap((migration) => [
      `-- ${migration.name}`,
      migration.text.trim(),
      `insert into lockstep.migration (number, name, checksum, breaking, phase, applied_at) values (${migration.number}, ` +
        `'${migration.name}', '${migration.checksum}', ${migration.breaking}, '${migration.phase}', clock_timestamp());`,
    ]),
    'set local check_function_bodies = off;',
    ...source.functions.flatMap((file) => [`-- ${file.path}`, file.text.trim()]),
    'revoke all on all functions in schema lockstep from public;',
    `insert into lockstep.function_set (single, checksum, version, applied_at) values (true, '${source.functionsChecksum}', ` +
      `'${source.version}', clock_timestamp());`,
    'commit;',
  ]
  return `${parts.join('\n\n')}\n`
}
