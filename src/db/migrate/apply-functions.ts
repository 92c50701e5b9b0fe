// Replaces the functions of schema lockstep by the package's set, inside the caller's transaction: `create or replace` keeps
// rights and plans; one whose result or parameters changed is dropped and made anew, one without a file is dropped.
import { DatabaseError, type ClientBase } from 'pg'
import { functionName } from './schema-source.ts'
import type { SqlFile } from '../sql-files.ts'

const INVALID_REPLACEMENT = '42P13'

const VALIDATE = `
  select case lanname when 'sql' then pg_catalog.fmgr_sql_validator(p.oid) else pg_catalog.plpgsql_validator(p.oid) end
  from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
  where p.pronamespace = 'lockstep'::regnamespace and lanname in ('sql', 'plpgsql')`

export async function applyFunctions(client: ClientBase, files: readonly SqlFile[]): Promise<void> {
  // Bodies are checked when all are there, so that they may name each other in any order.
  await client.query('set local check_function_bodies = off')
  const wanted = new Set(files.map(functionName))
  for (const name of (await overloads(client)).keys()) {
    if (!wanted.has(name)) await drop(client, name)
  }
  for (const file of files) await replace(client, file)
  // Another parameter list makes a second function beside the first; only one of a name may stay.
  const found = await overloads(client)
  for (const file of files) {
    const count = found.get(functionName(file)) ?? 0
    if (count === 1) continue
    if (count === 0) throw new Error(`${file.path} does not define lockstep.${functionName(file)}`)
    await drop(client, functionName(file))
    await client.query(file.text)
  }
  await client.query('set local check_function_bodies = on')
  await client.query(VALIDATE)
}

async function replace(client: ClientBase, file: SqlFile): Promise<void> {
  await client.query('savepoint replacing')
  try {
    await client.query(file.text)
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    if (error.code !== INVALID_REPLACEMENT) {
      error.message = `${file.path}: ${error.message}`
      throw error
    }
    await client.query('rollback to savepoint replacing')
    await drop(client, functionName(file))
    await client.query(file.text)
  }
  await client.query('release savepoint replacing')
}

async function overloads(client: ClientBase): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<[string, string]>({
    text: `select proname::text, count(*)::text from pg_catalog.pg_proc
      where pronamespace = 'lockstep'::regnamespace and prokind = 'f' group by proname order by proname`,
    rowMode: 'array',
  })
  return new Map(rows.map(([name, count]) => [name, Number(count)]))
}

async function drop(client: ClientBase, name: string): Promise<void> {
  const { rows } = await client.query<[string]>({
    text: `select format('drop function %s', oid::regprocedure) from pg_catalog.pg_proc
      where pronamespace = 'lockstep'::regnamespace and prokind = 'f' and proname = $1`,
    values: [name],
    rowMode: 'array',
  })
  for (const [statement] of rows) await client.query(statement)
}
