// The fault of a queue that is not there, with the name that was perhaps meant.

import type { Database } from '../db/pool.ts'
import { listQueues } from '../operations/list-queues.ts'
import { LockstepError } from '../protocol/errors.ts'
import { nearest } from './nearest.ts'

export async function noSuchQueue(database: Database, name: string): Promise<LockstepError> {
  const names = (await listQueues(database.reader)).map(({ queue }) => queue)
  const guess = nearest(name, names)
  return new LockstepError(
    'not_found',
    `There is no queue ${name}${guess === null ? '' : `; did you mean ${guess}?`}`,
    {
      queue: name,
      hint: 'lockstep queue list',
    },
  )
}
