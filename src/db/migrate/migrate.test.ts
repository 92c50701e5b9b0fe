// Migrating: fresh is the same as upgraded, many processes at once, a changed migration refused, rights, the printed script.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Client } from 'pg'
import { LockstepError } from '../../protocol/errors.ts'
import { administer, createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { openDatabase } from '../pool.ts'
import { sqlFiles, type SqlFile } from '../sql-files.ts'
import { migrate } from './migrate.ts'
import { migrationScript } from './migration-script.ts'
import { packageSource, schemaSource, type SchemaSource } from './schema-source.ts'
import { checkSchema, isNewer, migrationStatus } from './schema-state.ts'

const refuses = (code: string) => (error: unknown) => error instanceof LockstepError && error.code === code

const refused = (error: unknown): boolean => error instanceof LockstepError && error.details['sqlstate'] === '42501'

const changedAfter = (error: unknown): boolean =>
  refuses('schema_newer')(error) && /changed after it was applied/.test(String(error))

/** Everything in schema lockstep as text: tables, columns, constraints, indexes, sequences, functions with body and rights. */
async function catalog(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<[string]>({
    rowMode: 'array',
    text: `
      select concat_ws(' ', c.relkind, c.relname, c.reloptions, c.relacl) from pg_class c
        where c.relnamespace = 'lockstep'::regnamespace
      union all select concat_ws(' ', 'column', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod),
        attnotnull, attidentity, attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid))
        from pg_attribute left join pg_attrdef d on adrelid = attrelid and adnum = attnum
        join pg_class c on c.oid = attrelid where c.relnamespace = 'lockstep'::regnamespace and attnum > 0
      union all select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
        from pg_constraint where connamespace = 'lockstep'::regnamespace
      union all select concat_ws(' ', 'index', indexdef) from pg_indexes where schemaname = 'lockstep'
      union all select concat_ws(' ', 'function', proacl, pg_get_functiondef(oid)) from pg_proc
        where pronamespace = 'lockstep'::regnamespace
      union all select concat_ws(' ', number, name, checksum, breaking, phase) from lockstep.migration
      union all select concat_ws(' ', checksum, version) from lockstep.function_set
      order by 1`,
  })
  return rows.map(([line]) => line)
}

function withFunctions(version: string, change: (files: readonly SqlFile[]) => readonly SqlFile[]): SchemaSource {
  return schemaSource(version, sqlFiles('migrations'), change(sqlFiles('functions')))
}

const probe = (head: string, body: string): SqlFile => ({
  path: 'functions/probe/probe.sql',
  text: `create or replace function lockstep.probe(${head} language sql as $$ ${body} $$;`,
})

const at = (name: string, body: string): SqlFile => ({
  path: `functions/probe/${name}.sql`,
  text: `create or replace function lockstep.${name}() returns int ${body};`,
})

test('a fresh database gets every migration and the functions once, and then nothing', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false })
  const report = await migrate(database)
  assert.equal(report.functions, 'applied')
  assert.ok(report.applied.length >= 2)
  assert.deepEqual(await migrate(database), { applied: [], functions: 'unchanged', granted: [] })
})

test('eight processes that migrate at once apply each migration once, and all of them succeed', async (t) => {
  const { database, connectionString } = await createTestDatabase(t, { migrated: false })
  const pools = Array.from({ length: 8 }, () => openDatabase({ connectionString, connections: 1 }))
  const reports = await Promise.all(pools.map((pool) => migrate(pool)))
  await Promise.all(pools.map((pool) => pool.close()))
  const applied = reports.flatMap((report) => report.applied)
  assert.deepEqual(
    applied.toSorted(),
    packageSource().migrations.map((migration) => migration.name),
  )
  assert.equal(reports.filter((report) => report.functions === 'applied').length, 1)
  await checkSchema(database)
})

test('a fresh install, a stepwise upgrade, a replaced set of functions and the printed script give the same catalog', async (t) => {
  const fresh = await createTestDatabase(t)
  const expected = await catalog(await fresh.connect())
  const all = sqlFiles('migrations')

  const stepwise = await createTestDatabase(t, { migrated: false })
  for (let count = 1; count <= all.length; count++) {
    await migrate(stepwise.database, { source: schemaSource('0.0.1', all.slice(0, count), []) })
  }
  await migrate(stepwise.database)
  assert.deepEqual(await catalog(await stepwise.connect()), expected)

  const replaced = await createTestDatabase(t, { migrated: false })
  await migrate(replaced.database, {
    source: withFunctions('0.0.1', (files) => [
      ...files.filter((file) => !file.path.includes('/open_request.sql')),
      {
        path: 'functions/request/open_request.sql',
        text: 'create function lockstep.open_request(p_x int) returns int language sql as $$ select 1 $$;',
      },
      probe('p_x int) returns int', 'select 1'),
    ]),
  })
  await migrate(replaced.database)
  assert.deepEqual(await catalog(await replaced.connect()), expected)

  const printed = await createTestDatabase(t, { migrated: false })
  const client = await printed.connect()
  await client.query(migrationScript())
  assert.deepEqual(await catalog(client), expected)
  await checkSchema(printed.database)
})

test('a function whose result, parameter names or parameter types changed leaves one function of its name', async (t) => {
  const { database } = await createTestDatabase(t)
  const variants = [
    probe('p_x int) returns int', 'select 1'),
    probe('p_x int) returns text', `select 'a'`),
    probe('p_y int) returns text', `select 'b'`),
    probe('p_y text) returns text', `select 'c'`),
    probe('p_y text, p_z int default 1) returns text', `select 'd'`),
  ]
  for (const [index, variant] of variants.entries()) {
    await migrate(database, { source: withFunctions(`9.0.${index}`, (files) => [...files, variant]) })
    const rows = await database.rows(`select prosrc from pg_proc where proname = 'probe'`, [])
    assert.deepEqual(rows, [[variant.text.split('$$')[1]]])
  }
  await migrate(database, { source: withFunctions('9.1.0', (files) => files) })
  assert.deepEqual(await database.rows(`select prosrc from pg_proc where proname = 'probe'`, []), [])
})

test('a migration that was changed after it was applied is refused, and nothing is applied', async (t) => {
  const { database } = await createTestDatabase(t)
  const [first, ...rest] = sqlFiles('migrations')
  assert.ok(first)
  const changed = schemaSource(
    '0.1.0',
    [{ ...first, text: `${first.text}\n-- changed` }, ...rest],
    sqlFiles('functions'),
  )
  await assert.rejects(migrate(database, { source: changed }), changedAfter)
  await assert.rejects(checkSchema(database, changed), changedAfter)
  await assert.rejects(migrationStatus(database, changed), changedAfter)
  await checkSchema(database)
})

test('a failing migration leaves the database at the one before, and says what PostgreSQL said', async (t) => {
  const { database } = await createTestDatabase(t)
  const number = String(sqlFiles('migrations').length + 1).padStart(4, '0')
  const broken = {
    path: `migrations/${number}_broken.sql`,
    text: '-- breaking: no · phase: pre · locks: none\ncreate table lockstep.half (x int);\nselect 1/0;',
  }
  const source = schemaSource('0.2.0', [...sqlFiles('migrations'), broken], sqlFiles('functions'))
  await assert.rejects(migrate(database, { source }), /division by zero/)
  assert.deepEqual(await database.rows(`select to_regclass('lockstep.half')`, []), [[null]])
  await checkSchema(database)
})

test('a migration waits for a table that an open transaction holds, and goes on when it is free', async (t) => {
  const { database, connect } = await createTestDatabase(t)
  const holder = await connect()
  await holder.query('begin; lock table lockstep.queue in access share mode')
  const number = String(sqlFiles('migrations').length + 1).padStart(4, '0')
  const alter = {
    path: `migrations/${number}_alter.sql`,
    text: '-- breaking: no · phase: pre · locks: queue\nalter table lockstep.queue add column extra int;',
  }
  const source = schemaSource('0.2.0', [...sqlFiles('migrations'), alter], sqlFiles('functions'))
  let waits = 0
  const report = await migrate(database, {
    source,
    onProgress(line) {
      if (!line.startsWith('waiting')) return
      waits++
      if (waits === 1) void holder.query('commit')
    },
  })
  assert.deepEqual(report.applied, [`${number}_alter`])
  assert.ok(waits >= 1)
})

test('code refuses a database without schema, an older one and one with a breaking migration it does not know', async (t) => {
  const empty = await createTestDatabase(t, { migrated: false })
  await assert.rejects(checkSchema(empty.database), refuses('schema_missing'))
  await assert.rejects(empty.database.rows('select lockstep.clock()', []), refuses('schema_missing'))

  const all = sqlFiles('migrations')
  await migrate(empty.database, { source: schemaSource('0.0.1', all.slice(0, 1), []) })
  await assert.rejects(checkSchema(empty.database), refuses('schema_outdated'))
  await migrate(empty.database)
  await checkSchema(empty.database)

  const following = (breaking: string): SchemaSource =>
    schemaSource(
      '9.0.0',
      [
        ...all,
        {
          path: `migrations/${String(all.length + 1).padStart(4, '0')}_later.sql`,
          text: `-- breaking: ${breaking} · phase: pre · locks: none\nselect 1;`,
        },
      ],
      [...sqlFiles('functions'), probe('p_x int) returns int', 'select 1')],
    )
  await migrate(empty.database, { source: following('no') })
  await checkSchema(empty.database)
  assert.equal((await migrate(empty.database)).functions, 'newer')
  const other = await createTestDatabase(t)
  await migrate(other.database, { source: following('yes') })
  await assert.rejects(checkSchema(other.database), refuses('schema_newer'))
})

async function roleOf(
  t: TestContext,
  { name: database, connectionString }: TestDatabase,
): Promise<{ name: string; url: string }> {
  const name = `${database} App`
  await administer((client) => client.query(`create role "${name}" login password 'app'`))
  // Registered after the database's own end, so it runs when nothing is granted any more.
  t.after(() => administer((client) => client.query(`drop role "${name}"`)))
  const url = new URL(connectionString)
  url.username = encodeURIComponent(name)
  url.password = 'app'
  return { name, url: url.href }
}

test('a granted role may call the public functions and nothing else, also after the functions were replaced', async (t) => {
  const own = await createTestDatabase(t)
  const { name, url } = await roleOf(t, own)
  const app = openDatabase({ connectionString: url, connections: 1 })
  t.after(() => app.close())
  await assert.rejects(app.rows('select lockstep.clock()', []), refused)
  const { granted } = await migrate(own.database, { grant: name })
  assert.ok(granted.length > 3)
  await checkSchema(app)
  for (const [version, functions] of [['9.0.0', [probe('p_x int) returns int', 'select 7')]]] as const) {
    await migrate(own.database, { source: withFunctions(version, (files) => [...files, ...functions]) })
    assert.deepEqual(await app.rows('select lockstep.probe(1)', []), [['7']])
  }
  assert.equal((await app.rows('select lockstep.clock() is not null', []))[0]?.[0], 't')
  await assert.rejects(app.rows('select * from lockstep.queue', []), refused)
  await assert.rejects(app.rows('create table lockstep.mine (x int)', []), refused)
  await assert.rejects(app.rows('select lockstep._demand_read_committed()', []), refused)
  await assert.rejects(migrate(app, { source: withFunctions('9.9.9', (files) => files) }), /owner|permission/)
})

test('functions may call each other in any order, and a body that does not parse is refused', async (t) => {
  const { database } = await createTestDatabase(t)
  const circle = [at('aaa', 'language sql as $$ select lockstep.zzz() $$'), at('zzz', 'language sql as $$ select 1 $$')]
  await migrate(database, { source: withFunctions('9.0.0', (files) => [...files, ...circle]) })
  assert.deepEqual(await database.rows('select lockstep.aaa()', []), [['1']])
  for (const body of ['language sql as $$ select missing() $$', 'language plpgsql as $$ begin retrun 1; end $$']) {
    const source = withFunctions('9.0.1', (files) => [...files, at('broken', body)])
    await assert.rejects(migrate(database, { source }), /missing|retrun/)
  }
})

test('versions compare by their numbers', () => {
  assert.ok(isNewer('1.10.0', '1.9.9'))
  assert.ok(isNewer('2.0.0-beta.1', '1.9.9'))
  assert.ok(!isNewer('1.2.3', '1.2.3'))
  assert.ok(!isNewer('0.9.9', '1.0.0'))
})

test('a database in another encoding is refused', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const name = `${own.name}_latin`
  await administer((client) => client.query(`create database ${name} template template0 encoding latin1 locale 'C'`))
  const url = new URL(own.connectionString)
  url.pathname = `/${name}`
  const latin = openDatabase({ connectionString: url.href, connections: 1 })
  try {
    await assert.rejects(migrate(latin), (error) => refuses('not_available')(error) && /UTF8/.test(String(error)))
  } finally {
    await latin.close()
    await administer((client) => client.query(`drop database ${name}`))
  }
})
