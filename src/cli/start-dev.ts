// The whole system on one machine: an embedded PostgreSQL, its schema and a broker, for `lockstep dev` and `npm start`. Only a
// port that nobody asked for is replaced when it is taken.

import { boundHeap } from '../broker/bound-heap.ts'
import { type Broker, createBroker } from '../broker/index.ts'
import { migrate } from '../db/migrate/migrate.ts'
import { openDatabase } from '../db/pool.ts'
import { systemCode } from '../embedded/embedded-error.ts'
import { type RunningPostgres, startPostgres } from '../embedded/start-postgres.ts'
import { LockstepError } from '../protocol/errors.ts'

export const BROKER_PORT = 6632

export interface DevOptions {
  /** Folder for the database. */
  readonly home: string
  /** The broker's port if somebody asked for one. */
  readonly port: number | null
  /** What to run with another port; default `lockstep dev`. */
  readonly command?: string
  readonly say: (line: string) => void
  /** The ring for encrypted queues, if there is one. */
  readonly encryptionKeys?: string | null
}

export interface RunningDev {
  /** http://127.0.0.1:6632 */
  readonly address: string
  readonly postgres: RunningPostgres
  /** Rejects when PostgreSQL ended without being stopped here: the broker alone is of no use. Never resolves. */
  readonly lost: Promise<never>
  /** The broker drains first, then PostgreSQL stops. Idempotent. */
  stop(): Promise<void>
}

export async function startDev(options: DevOptions): Promise<RunningDev> {
  boundHeap()
  const { home, say } = options
  const postgres = await startPostgres({ home, onProgress: say })
  try {
    say(`PostgreSQL ${postgres.version} runs on 127.0.0.1:${postgres.port}, its data in ${postgres.dataDir}`)
    await migrateSchema(postgres.connectionString, home, say)
    const broker = await startBroker(postgres.connectionString, options)
    let stopping: Promise<void> | null = null
    const lost = postgres.gone.then((): never => {
      throw postgresLost(postgres, options.command)
    })
    // Nobody may be waiting for it when it happens.
    lost.catch(() => {})
    return {
      address: broker.address,
      postgres,
      lost,
      stop: () => {
        stopping ??= stopBoth(broker, postgres)
        return stopping
      },
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

function postgresLost({ pid, logFile }: RunningPostgres, command = 'lockstep dev'): LockstepError {
  return new LockstepError(
    'unavailable',
    `PostgreSQL (process ${pid}) has ended without being told to: it was killed or it crashed. Its log is ${logFile}.`,
    { hint: `${command.replace(/ --$/, '')}    # starts it again; what was committed is still there` },
  )
}

async function stopBoth(broker: Broker, postgres: RunningPostgres): Promise<void> {
  try {
    await broker.stop()
  } finally {
    await postgres.stop()
  }
}

async function migrateSchema(connectionString: string, home: string, say: (line: string) => void): Promise<void> {
  const database = openDatabase({ connectionString, connections: 2, applicationName: 'lockstep command' })
  try {
    await migrate(database, { onProgress: say })
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'schema_newer') throw error
    // The data is of another build; whoever only tries things out does not need it.
    const hint = `mv ${home}/data ${home}/data.old    # and run this again, to begin with empty data`
    throw new LockstepError(error.code, error.message, { ...error.details, hint }, error)
  } finally {
    await database.close()
  }
}

async function startBroker(connectionString: string, options: DevOptions): Promise<Broker> {
  const { port, say, command } = options
  try {
    return await startOn(connectionString, port ?? BROKER_PORT, options)
  } catch (error) {
    if (!isPortTaken(error)) throw error
    if (port !== null) throw portTaken(port, command)
    say(`port ${BROKER_PORT} is taken by another program: taking a free one`)
    return await startOn(connectionString, 0, options)
  }
}

async function startOn(connectionString: string, port: number, { encryptionKeys }: DevOptions): Promise<Broker> {
  const broker = createBroker({ connectionString, port, ...(encryptionKeys ? { encryptionKeys } : {}) })
  await broker.start()
  return broker
}

export function isPortTaken(error: unknown): boolean {
  if (systemCode(error) === 'EADDRINUSE') return true
  return error instanceof Error && error.cause !== undefined && isPortTaken(error.cause)
}

/** `command`: what to run with another port. */
export function portTaken(port: number, command = 'lockstep dev'): LockstepError {
  return new LockstepError('unavailable', `Port ${port} of 127.0.0.1 is taken by another program.`, {
    port,
    hint: `${command} --port ${port + 1}    # or any other free one`,
  })
}
