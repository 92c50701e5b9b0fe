// Runs a broker as a process: settings from the environment, a stop on SIGTERM and SIGINT, exit 0 after a clean one.
import { LockstepError } from '../protocol/errors.ts'
import { authOptions } from './auth/auth-settings.ts'
import { boundHeap } from './bound-heap.ts'
import { readSettings, tlsOptions } from './config.ts'
import { createBroker } from './create-broker.ts'
import type { Broker } from './create-broker.ts'
import { jsonLogger } from './logger.ts'

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Overrides of single settings, from the command line. */
  readonly port?: number
  readonly connectionString?: string
}

/** Started; it stops itself on a signal. */
export async function runBroker(options: RunOptions = {}): Promise<Broker> {
  boundHeap()
  const settings = readSettings(options.environment ?? process.env)
  const connectionString = options.connectionString ?? settings.DATABASE_URL
  if (connectionString === null) {
    throw new LockstepError('bad_request', 'setting DATABASE_URL must be the connection string of a PostgreSQL', {
      field: 'DATABASE_URL',
    })
  }
  const logger = jsonLogger(settings.LOG_LEVEL)
  const auth = authOptions(settings)
  const tls = tlsOptions(settings)
  const broker = createBroker({
    connectionString,
    connections: settings.LOCKSTEP_CONNECTIONS,
    host: settings.HOST,
    port: options.port ?? settings.PORT,
    allowOpen: settings.LOCKSTEP_ALLOW_OPEN,
    ...(auth === null ? {} : { auth }),
    ...(settings.LOCKSTEP_ENCRYPTION_KEYS === null ? {} : { encryptionKeys: settings.LOCKSTEP_ENCRYPTION_KEYS }),
    ...(tls === null ? {} : { tls }),
    hostNames: settings.LOCKSTEP_HOST_NAMES?.split(',') ?? [],
    defaultSubscriptionMode: settings.DEFAULT_SUBSCRIPTION_MODE,
    requireLease: settings.LOCKSTEP_REQUIRE_LEASE,
    drainMs: settings.LOCKSTEP_DRAIN_MS,
    logger,
  })
  await broker.start()
  stopOnSignal(broker)
  return broker
}

/** One Ctrl-C arrives twice under npm: from the terminal and from npm. */
const SAME_MS = 1_000

/** A second signal, after a moment, does not wait. */
export function stopOnSignal(broker: Broker): void {
  let asked: number | null = null
  const stop = (): void => {
    if (asked !== null) {
      if (performance.now() - asked > SAME_MS) process.exit(1)
      return
    }
    asked = performance.now()
    broker.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
