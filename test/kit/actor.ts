// One session of a test, on a connection of its own: steps are handed to it and run one after the other, as in a person's
// psql. It never retries and hides nothing: an error is an outcome, by its SQLSTATE.
import type { Client } from 'pg'
import type { Door, Executor, Param, Row } from '../../src/db/executor.ts'
import { sqlstateOf } from '../../src/db/pg-errors.ts'
import type { TestDatabase } from '../../src/testing/database.ts'

export type Outcome = { readonly value: unknown } | { readonly error: string }

export interface Actor {
  readonly name: string
  readonly pid: number
  readonly client: Client
  /** Statements on this session, inside whatever transaction it has open. */
  readonly db: Executor
  /** The same as a user's driver would hand over. */
  readonly door: Door
  readonly idle: boolean
  /** Runs the step when all handed over before have ended. */
  hand(step: () => Promise<unknown>): Promise<Outcome>
  readonly sql: (statement: string, params?: readonly Param[]) => Promise<readonly Row[]>
}

const TEXT = { getTypeParser: () => (value: string) => value }

export async function openActor(own: TestDatabase, name: string): Promise<Actor> {
  const client = await own.connect()
  const pid: unknown = Reflect.get(client, 'processID')
  if (typeof pid !== 'number') throw new Error('the driver does not tell the process id')
  let tail: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function sql(statement: string, params: readonly Param[] = []): Promise<readonly Row[]> {
    const result = await client.query<(string | null)[]>({
      text: statement,
      values: [...params],
      rowMode: 'array',
      types: TEXT,
    })
    return result.rows
  }
  const rows = (statement: string, params: readonly Param[]): Promise<readonly Row[]> => sql(statement, params)

  return {
    name,
    pid,
    client,
    sql,
    db: { rows },
    door: { text: async (statement, params) => (await sql(statement, params))[0]?.[0] ?? null },
    get idle() {
      return waiting === 0
    },
    hand(step) {
      waiting++
      const end = tail
        .then(step)
        .then((value): Outcome => ({ value }))
        .catch((error: unknown): Outcome => ({ error: sqlstateOf(error) ?? String(error) }))
        .finally(() => {
          waiting--
        })
      tail = end
      return end
    },
  }
}
