// The calls of streams straight to PostgreSQL. A cycle is one statement; whoever waits for what it pushed is woken. One whose
// outcome is unknown is not sent again: its runner reads the state anew, and the lease decides.
import type { Database } from '../../db/pool.ts'
import { registerStream } from '../../operations/register-stream.ts'
import { streamClaim } from '../../operations/stream-claim.ts'
import { streamCycle } from '../../operations/stream-cycle.ts'
import { streamRipe } from '../../operations/stream-ripe.ts'
import { streamState } from '../../operations/stream-state.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { RANK } from '../../traffic/admission.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { StreamCalls } from '../streams/stream-calls.ts'

/** `call` waits for the schema and repeats what may be repeated. */
export function streamCalls(
  database: Database,
  traffic: Traffic,
  call: <T>(repeatable: boolean, work: () => Promise<T>) => Promise<T>,
): StreamCalls {
  const { admission } = traffic
  const reading = async <T>(work: () => Promise<T>): Promise<T> =>
    call(true, async () => admission.enter(RANK.read, work))
  const writing = async <T>(repeatable: boolean, work: () => Promise<T>): Promise<T> =>
    call(repeatable, async () => admission.enter(RANK.write, work))
  return {
    async register(stream) {
      const registered = await writing(true, async () => registerStream(database, stream))
      if (registered.outcome !== 'mismatch') return registered
      throw new LockstepError(
        'stream_conflict',
        `config_hash mismatch: '${stream.name}' is registered with another configuration; register it with reset: true to drop its state, or under another name`,
        { stream: stream.name },
      )
    },
    state: async (query) => reading(async () => streamState(database.reader, query)),
    async cycle(cycle) {
      const result = await writing(false, async () => streamCycle(database, cycle))
      if (result.success) traffic.pushed(cycle.pushes)
      return result
    },
    // A claim that was made and not heard of lapses, and costs nothing.
    claim: async (claim) => writing(false, async () => streamClaim(database, claim)),
    ripe: async (query) => reading(async () => streamRipe(database.reader, query)),
  }
}
