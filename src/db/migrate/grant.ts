// Rights: the schema belongs to whoever migrates; an application's role may use the public functions and read the record of
// migrations, and touches no table. Functions run with their owner's rights, and nobody else may call them.
import type { ClientBase } from 'pg'
import type { Executor } from '../executor.ts'

/** Statements that give a role what a running application needs. Idempotent. */
export async function grantStatements(db: Executor, role: string): Promise<readonly string[]> {
  const [named] = await db.rows('select quote_ident($1)', [role])
  const functions = await db.rows(
    `select format('lockstep.%I(%s)', proname, pg_get_function_identity_arguments(oid)) from pg_catalog.pg_proc
     where pronamespace = 'lockstep'::regnamespace and prokind = 'f' and left(proname, 1) <> '_' order by 1`,
    [],
  )
  const to = named?.[0] ?? ''
  return [
    `grant usage on schema lockstep to ${to}`,
    `grant select on lockstep.migration, lockstep.function_set to ${to}`,
    ...functions.map(([signature]) => `grant execute on function ${signature ?? ''} to ${to}`),
  ]
}

/** Roles, other than the owner, that were given the schema before. */
export async function grantedRoles(db: Executor): Promise<readonly string[]> {
  const rows = await db.rows(
    `select distinct rolname::text from pg_catalog.pg_namespace n, lateral aclexplode(n.nspacl) acl
     join pg_catalog.pg_roles r on r.oid = acl.grantee
     where n.nspname = 'lockstep' and acl.privilege_type = 'USAGE' and acl.grantee <> n.nspowner order by 1`,
    [],
  )
  return rows.flatMap(([name]) => (name === null || name === undefined ? [] : [name]))
}

/** A new function may be called by everybody until this is said. */
export async function revokeFromPublic(client: ClientBase): Promise<void> {
  await client.query('revoke all on all functions in schema lockstep from public')
}
