// Durations as people write them: '30d', '90s'. Whole numbers above zero with one unit, nothing else; a week is refused
// because nobody agrees what else would be accepted then.
import { LockstepError } from './errors.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Milliseconds of '250ms', '30s', '5m', '2h', '30d'; `what` names the setting in the error. */
export function durationMs(text: string, what: string): number {
  const match = typeof text !== 'string' ? null : /^([0-9]{1,15})(ms|s|m|h|d)$/.exec(text)
  const unit = UNITS.get(match?.[2] ?? '')
  const milliseconds = Number(match?.[1] ?? 0) * (unit ?? 0)
  // Programs without types give anything.
  const given: unknown = text
  const shown = typeof given === 'string' ? given : typeof given
  if (unit === undefined || milliseconds === 0 || !Number.isSafeInteger(milliseconds)) {
    throw new LockstepError(
      'bad_request',
      `${what} must be a whole number above zero with a unit of ms, s, m, h or d, like '30d'; got '${shown.slice(0, 40)}'`,
      { field: what },
    )
  }
  return milliseconds
}

/** Whole seconds of a duration; one that is no whole number of seconds is refused, not rounded. */
export function durationSeconds(text: string, what: string): number {
  const milliseconds = durationMs(text, what)
  if (milliseconds % 1000 !== 0) {
    throw new LockstepError('bad_request', `${what} must be a whole number of seconds; got '${text}'`, { field: what })
  }
  return milliseconds / 1000
}
