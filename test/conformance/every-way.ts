// One case, every way: through a broker over HTTP, straight to PostgreSQL, and spread at random over two brokers on one
// PostgreSQL. A file's cases share one database and its brokers per way; every case names its own queues. What only one way
// can do is said by `onlyWay`, with the reason there.
import { after, test, type TestContext } from 'node:test'
import { createBroker } from 'lockstep/broker'
import { Lockstep, type Logger } from 'lockstep'
import type { Client } from 'pg'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { startSpreadBrokers } from '../kit/spread-brokers.ts'

export type Way = 'http' | 'postgres' | 'spread'

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
  /** Null: straight to PostgreSQL. */
  readonly brokers: Brokers | null
}

interface Brokers {
  readonly address: string
  readonly replay?: string
  stop(): Promise<void>
}

/** A case that hangs fails by itself. */
const CASE_MS = 90_000

const grounds = new Map<Way, Promise<Ground>>()
let cases = 0

async function lay(way: Way): Promise<Ground> {
  const database = await createTestDatabase(null)
  const { connectionString } = database
  if (way === 'postgres') return { database, brokers: null }
  if (way === 'spread') return { database, brokers: await startSpreadBrokers({ connectionString }) }
  const broker = createBroker({ connectionString, port: 0 })
  await broker.start()
  return { database, brokers: broker }
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
    const { brokers, database } = await laid
    await brokers?.stop()
    await database.drop()
  }
})

async function perform(t: TestContext, way: Way, work: (c: Case) => Promise<void>): Promise<void> {
  const { database, brokers } = await ground(way)
  if (brokers?.replay !== undefined) t.diagnostic(`replay: ${brokers.replay}`)
  const number = (cases += 1)
  const clients: Lockstep[] = []
  const another = (logger: Logger = { warn() {} }): Lockstep => {
    const client: Lockstep = new Lockstep(
      brokers === null ? { connectionString: database.connectionString, logger } : { url: brokers.address, logger },
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
  test(`${way}: ${name}`, { timeout: CASE_MS }, async (t) => perform(t, way, work))
}

export function onEveryWay(name: string, work: (c: Case) => Promise<void>): void {
  for (const way of ['http', 'postgres', 'spread'] as const) onlyWay(way, name, work)
}
