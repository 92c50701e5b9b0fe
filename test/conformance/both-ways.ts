// One case, both ways: through a broker over HTTP and straight to PostgreSQL. A file's cases share one database and one
// broker per way; every case names its own queues. What only one way can do is said by `onlyWay`, with the reason there.
import { after, test } from 'node:test'
import { createBroker, type Broker } from 'lockstep/broker'
import { Lockstep, type Logger } from 'lockstep'
import type { Client } from 'pg'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'

export type Way = 'http' | 'postgres'

export interface Case {
  readonly way: Way
  readonly lockstep: Lockstep
  /** A further client the same way, closed with the case. */
  readonly another: (logger?: Logger) => Lockstep
  /** A name that no other case has. */
  readonly named: (base: string) => string
  /** A statement on a connection of the test's own. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>
  /** A connection of the test's own, for transactions. */
  readonly connect: () => Promise<Client>
  readonly connectionString: string
}

interface Ground {
  readonly database: TestDatabase
  readonly broker: Broker | null
}

/** A case that hangs fails by itself. */
const CASE_MS = 90_000

const grounds = new Map<Way, Promise<Ground>>()
let cases = 0

async function lay(way: Way): Promise<Ground> {
  const database = await createTestDatabase(null)
  if (way === 'postgres') return { database, broker: null }
  const broker = createBroker({ connectionString: database.connectionString, port: 0 })
  await broker.start()
  return { database, broker }
}

function ground(way: Way): Promise<Ground> {
  const known = grounds.get(way)
  if (known !== undefined) return known
  const laid = lay(way)
  grounds.set(way, laid)
  return laid
}

after(async () => {
  for (const laid of grounds.values()) {
    const { broker, database } = await laid
    await broker?.stop()
    await database.drop()
  }
})

async function perform(way: Way, work: (c: Case) => Promise<void>): Promise<void> {
  const { database, broker } = await ground(way)
  const number = (cases += 1)
  const clients: Lockstep[] = []
  const another = (logger: Logger = { warn() {} }): Lockstep => {
    const client: Lockstep = new Lockstep(
      broker === null ? { connectionString: database.connectionString, logger } : { url: broker.address, logger },
    )
    clients.push(client)
    return client
  }
  const own = await database.connect()
  try {
    await work({
      way,
      lockstep: another(),
      another,
      named: (base) => `${base}-${number}`,
      sql: async (text, values = []) => (await own.query(text, [...values])).rows,
      connect: async () => database.connect(),
      connectionString: database.connectionString,
    })
  } finally {
    await Promise.all(clients.map(async (client) => client.close({ timeoutMs: 1_000 })))
    await own.end()
  }
}

export function onlyWay(way: Way, name: string, work: (c: Case) => Promise<void>): void {
  test(`${way}: ${name}`, { timeout: CASE_MS }, async () => perform(way, work))
}

export function onBothWays(name: string, work: (c: Case) => Promise<void>): void {
  onlyWay('http', name, work)
  onlyWay('postgres', name, work)
}
