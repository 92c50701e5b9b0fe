// Registers a stream's query under its name.
import type { Executor } from '../db/executor.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { RegisteredStream, StreamRegistration } from '../protocol/stream.ts'

const REGISTER = 'select * from lockstep.register_stream($1::text, $2::text, $3::text, $4::text, $5::boolean)'
const OUTCOMES = ['fresh', 'kept', 'reset', 'mismatch'] as const

export async function registerStream(db: Executor, stream: StreamRegistration): Promise<RegisteredStream> {
  const { name, sourceQueue, sinkQueue, configHash, reset } = stream
  const [row] = await db.rows(REGISTER, [name, sourceQueue, sinkQueue, configHash, String(reset)])
  const outcome = OUTCOMES.find((each) => each === row?.[1])
  if (!row?.[0] || outcome === undefined) throw new LockstepError('internal', 'a registration was not answered')
  return { queryId: row[0], outcome }
}
