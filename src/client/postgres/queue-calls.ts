// The calls about queues and groups themselves, straight to PostgreSQL.
import type { Database } from '../../db/pool.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { Transport } from '../transport.ts'

export function queueCalls(
  _database: Database,
  _traffic: Traffic,
): Pick<Transport, 'configure' | 'deleteQueue' | 'seekGroup' | 'deleteGroup'> {
  const refuse = async (): Promise<never> => {
    throw new LockstepError('not_available', 'not yet')
  }
  return { configure: refuse, deleteQueue: refuse, seekGroup: refuse, deleteGroup: refuse }
}
