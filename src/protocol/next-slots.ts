// The slots of a schedule: a cron expression in a zone, or a fixed interval. Each slot is computed from the one before, never
// from a clock. A fixed hour fires once per local day: an hour that a change of clocks leaves out fires at the first instant
// after it, one that comes twice fires the first time; expressions of every few minutes follow elapsed time.
import { Cron } from 'croner'
import { LockstepError } from './errors.ts'

export interface Rhythm {
  /** Five or six fields (with seconds first), or a name such as @daily. Null with an interval. */
  readonly cron: string | null
  /** IANA name, for instance Europe/Rome. */
  readonly zone: string
  readonly intervalMs: number | null
}

/** Throws `bad_request` that names what is wrong. */
export function checkRhythm(rhythm: Rhythm): void {
  if (rhythm.intervalMs !== null) {
    if (rhythm.cron !== null) throw wrong('cron', 'either a cron expression or an interval, not both')
    if (!Number.isSafeInteger(rhythm.intervalMs) || rhythm.intervalMs < 1_000)
      throw wrong('every', 'an interval of at least one second')
    return
  }
  if (rhythm.cron === null) throw wrong('cron', 'a cron expression or an interval')
  cronOf(rhythm)
}

/** The slots after `after` (itself a slot, or any instant to begin with), at most `limit`. */
export function slotsAfter(rhythm: Rhythm, after: Date, limit: number): readonly Date[] {
  const slots: Date[] = []
  if (rhythm.intervalMs !== null) {
    for (let n = 1; n <= limit; n += 1) slots.push(new Date(after.getTime() + n * rhythm.intervalMs))
    return slots
  }
  const cron = cronOf(rhythm)
  let slot: Date | null = after
  while (slots.length < limit) {
    slot = cron.nextRun(slot)
    if (slot === null) break
    slots.push(slot)
  }
  return slots
}

function cronOf(rhythm: Rhythm): Cron {
  try {
    Intl.DateTimeFormat('en', { timeZone: rhythm.zone })
  } catch {
    throw wrong('zone', `an IANA time zone such as Europe/Rome, not '${rhythm.zone}'`)
  }
  // Croner takes a seventh, of years; a schedule that ends is none.
  if ((rhythm.cron ?? '').trim().split(/\s+/).length > 6) throw wrong('cron', 'a cron expression of five or six fields')
  try {
    return new Cron(rhythm.cron ?? '', { timezone: rhythm.zone, paused: true })
  } catch (error) {
    throw new LockstepError(
      'bad_request',
      `cron must be a cron expression of five or six fields: ${error instanceof Error ? error.message : String(error)}`,
      { field: 'cron' },
      error,
    )
  }
}

function wrong(field: string, right: string): LockstepError {
  return new LockstepError('bad_request', `${field} must be ${right}`, { field })
}
