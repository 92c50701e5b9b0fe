// Tells our own guarded client from a library's transaction.
import type { TransactionClient } from '../../client/transaction-client.ts'

export function isTransactionClient(tx: unknown): tx is TransactionClient {
  return typeof tx === 'object' && tx !== null && typeof Reflect.get(tx, 'query') === 'function'
}
