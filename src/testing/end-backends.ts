// Ends server processes under a test's connections, as an operator or a failover does. For tests only.
import { administer, type TestDatabase } from './database.ts'

/** Ends every connection to the database, or only those of one application name; how many there were. */
export async function endBackends({ name }: TestDatabase, applicationName: string | null = null): Promise<number> {
  return administer(async (client) => {
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and ($2::text is null or application_name = $2)`,
      [name, applicationName],
    )
    return rowCount ?? 0
  })
}

/** Ends one connection, by the process id that it tells by pg_backend_pid(). */
export async function endBackend(pid: string): Promise<void> {
  await administer((client) => client.query('select pg_terminate_backend($1)', [pid]))
}
