// Timers inside somebody's open transaction: one statement through the door. They are scheduled, or cancelled, when it commits.
import { arrayLiteral } from '../db/array-literal.ts'
import type { Door } from '../db/executor.ts'
import { withSealedThrough } from '../db/vault/seal-items.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { TimerOperation, TimerResult } from '../protocol/timer.ts'
import { schedulesOf, withSealedSchedules } from './seal-timers.ts'
import { timerLines } from './timer-lines.ts'

const TIMERS =
  'select lockstep.timers($1::text::text[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::bigint[], $8::text::text[], $9::text::text[])::text as r'

export async function timersIn(door: Door, operations: readonly TimerOperation[]): Promise<readonly TimerResult[]> {
  if (operations.length === 0) return []
  const text = await withSealedThrough(door, schedulesOf([operations]), async (sealed) => {
    const [, , ...columns] = timerLines(withSealedSchedules([operations], sealed))
    return door.text(TIMERS, columns.map(arrayLiteral))
  })
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const results = JSON.parse(text ?? '[]') as readonly TimerResult[]
  if (results.length !== operations.length)
    throw new LockstepError('internal', 'the timers have another number of answers')
  return results
}
