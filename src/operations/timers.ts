// Timers: schedules and cancels, many calls in one statement. An operation never hurts its neighbours; a call that comes twice
// counts twice, unless it came under a request id.
import type { Executor } from '../db/executor.ts'
import { withSealed } from '../db/vault/seal-items.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { TimerOperation, TimerResult, TimerStatus } from '../protocol/timer.ts'
import { schedulesOf, withSealedSchedules } from './seal-timers.ts'
import { timerLines } from './timer-lines.ts'

const TIMERS =
  'select * from lockstep.timer_joined($1::int[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::uuid[], $11::text[])'

/** The answers are aligned with the calls and their operations. */
export async function timers(
  db: Executor,
  calls: readonly (readonly TimerOperation[])[],
): Promise<readonly (readonly TimerResult[])[]> {
  const answers = calls.map((): TimerResult[] => [])
  const rows = await withSealed(db, schedulesOf(calls), (sealed) =>
    db.rows(TIMERS, timerLines(withSealedSchedules(calls, sealed))),
  )
  for (const [call, pos, status, transactionId, messageId, deliverAt] of rows) {
    const results = answers[Number(call) - 1]
    if (results === undefined) continue
    results[Number(pos)] = {
      status: timerStatus(status ?? null),
      transactionId: transactionId ?? null,
      messageId: messageId ?? null,
      deliverAt: deliverAt ?? null,
    }
  }
  return answers
}

export function timerStatus(text: string | null): TimerStatus {
  if (text === 'scheduled' || text === 'rescheduled' || text === 'cancelled' || text === 'absent') return text
  throw new LockstepError('internal', `a timer was answered ${text ?? 'nothing'}`)
}
