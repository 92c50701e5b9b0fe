// Runs a read or a rare write behind the gate: for routes that are not joined with their like.
import type { Executor } from '../../db/executor.ts'
import type { Acting } from '../../db/pool.ts'
import { RANK } from '../../traffic/admission.ts'
import type { Call } from './route.ts'

/** In a read-only transaction. */
export const reading = <T>(call: Call, work: (db: Executor) => Promise<T>): Promise<T> =>
  call.parts.traffic.admission.enter(RANK.read, () => work(call.parts.database.reader))

export const writing = <T>(call: Call, work: (db: Executor) => Promise<T>): Promise<T> =>
  call.parts.traffic.admission.enter(RANK.write, () => work(call.parts.database))

/** A destructive call: noted under the caller's name, in the same commit. */
export const noting = <T>(call: Call, work: (db: Executor) => Promise<T>): Promise<T> => {
  const { traffic, database } = call.parts
  return traffic.admission.enter(RANK.write, () => work(database.acting(actingOf(call))))
}

export const actingOf = ({ sub, requestId }: Call): Acting => ({ actor: sub, requestId })
