// A client of its own over a database of its own for one test, with a worker when asked for; everything is closed at its end.
import type { TestContext } from 'node:test'
import type { Client } from 'pg'
import { Lockstep, type Logger, type Worker, type WorkerOptions } from 'lockstep'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'

export interface Workshop {
  readonly lockstep: Lockstep
  readonly database: TestDatabase
  readonly sql: Client
  /** A started worker. */
  readonly worker: (options: WorkerOptions) => Promise<Worker>
  readonly another: (connections?: number) => Lockstep
  /** Warnings that the clients logged. */
  readonly warnings: readonly string[]
}

export async function workshop(t: TestContext, connections = 10): Promise<Workshop> {
  const database = await createTestDatabase(t)
  const warnings: string[] = []
  const logger: Logger = { warn: (details, message) => void warnings.push(`${message} ${JSON.stringify(details)}`) }
  const clients: Lockstep[] = []
  const another = (size = connections): Lockstep => {
    const client: Lockstep = new Lockstep({ connectionString: database.connectionString, connections: size, logger })
    clients.push(client)
    return client
  }
  t.after(async () => {
    await Promise.all(clients.map(async (client) => client.close({ timeoutMs: 500 })))
  })
  const lockstep = another()
  const sql = await database.connect()
  return {
    lockstep,
    database,
    sql,
    warnings,
    another,
    async worker(options) {
      const worker = lockstep.worker({ poll: '50ms', ...options })
      await worker.start()
      return worker
    },
  }
}

export function causeOf(error: Error | null): Error | null {
  return error?.cause instanceof Error ? error.cause : null
}
