// Whether a connection is a session of PostgreSQL's own: the process that answers is the one that greeted. A pooler greets with
// a number it made up, and in transaction mode may let another process answer every statement. Leaves nothing behind.
import type { Client } from 'pg'

export async function ownSession(client: Client): Promise<boolean> {
  const { rows } = await client.query<[number]>({ text: 'select pg_backend_pid()', rowMode: 'array' })
  const greeted: unknown = Reflect.get(client, 'processID')
  return greeted === rows[0]?.[0]
}
