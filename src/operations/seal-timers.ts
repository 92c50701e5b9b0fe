// The schedules among timer operations, as a list to be sealed, and the operations again with what came of it. It sends nothing.
import type { TimerOperation } from '../protocol/timer.ts'
import type { Sealable } from '../protocol/vault.ts'

export function schedulesOf(calls: readonly (readonly TimerOperation[])[]): readonly Sealable[] {
  return calls.flatMap((operations) => operations.flatMap((each) => (each.op === 'schedule' ? [each] : [])))
}

export function withSealedSchedules(
  calls: readonly (readonly TimerOperation[])[],
  sealed: readonly Sealable[],
): readonly (readonly TimerOperation[])[] {
  let at = 0
  return calls.map((operations) =>
    operations.map((each) => (each.op === 'schedule' ? { ...each, payload: sealed[at++]?.payload ?? '' } : each)),
  )
}
