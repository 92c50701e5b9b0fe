// What a hint about a queue says: its name, and one partition when only that one got something. NUL parts them, as no name
// holds it.
import type { Parking } from './parking.ts'

export const hintText = (queue: string, partition: string | null): string =>
  partition === null ? queue : `${queue}\0${partition}`

/** Rings what a hint names. */
export function ringHint(parking: Parking, hint: string): void {
  const mark = hint.indexOf('\0')
  if (mark < 0) parking.ring(hint)
  else parking.ring(hint.slice(0, mark), hint.slice(mark + 1))
}
