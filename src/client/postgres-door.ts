// What stands behind `import('#postgres')`, the one way to PostgreSQL: its types alone, so that the client bundles for a
// browser with the driver absent.
import type { PostgresOptions } from './client-options.ts'
import type { Logger } from './logger.ts'
import type { JoinedTransaction, Transport } from './transport.ts'

export interface PostgresDoor {
  openPostgres(options: PostgresOptions, log: Logger): Promise<Transport>
  joinTransaction(tx: unknown): Promise<JoinedTransaction>
}
