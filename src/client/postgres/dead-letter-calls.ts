// The calls about dead letters, straight to PostgreSQL; whoever waits for a queue that got messages back is woken.
import type { Database } from '../../db/pool.ts'
import { listDeadLetters } from '../../operations/list-dead-letters.ts'
import { purgeDeadLetters } from '../../operations/purge-dead-letters.ts'
import { redriveDeadLetter } from '../../operations/redrive-dead-letter.ts'
import { showDeadLetter } from '../../operations/show-dead-letter.ts'
import { replayDeadLetters } from '../../traffic/replay-dead-letters.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { DeadLetterCalls } from '../dead-letters/dead-letters-client.ts'
import type { Repeatedly } from './repeated.ts'

/** `call` waits for the schema and repeats what may be repeated: here each may, as what was moved or removed is gone. */
export function deadLetterCalls(database: Database, traffic: Traffic, call: Repeatedly): DeadLetterCalls {
  return {
    list: async (page) => call(true, async () => listDeadLetters(database.reader, page)),
    get: async (id) => call(true, async () => showDeadLetter(database.reader, id)),
    async replay(id, target) {
      const moved = await call(false, async () => redriveDeadLetter(database, id, target))
      if (moved.result === 'moved') traffic.committed(moved.queue)
      return moved
    },
    async replayAll(selection, dryRun) {
      const count = await call(false, async () => replayDeadLetters(database, selection, dryRun))
      if (count.moved > 0) traffic.committed(selection.queue)
      return count
    },
    purge: async (selection, dryRun) =>
      call(false, async () => (await purgeDeadLetters(database, selection, dryRun)) ?? 0),
  }
}
