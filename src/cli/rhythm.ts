// The rhythm of a schedule as a command's options.

import { checkRhythm, type Rhythm } from '../protocol/next-slots.ts'
import type { Call } from './call.ts'
import type { Option } from './command.ts'

export const RHYTHM_OPTIONS: Readonly<Record<string, Option>> = {
  cron: { kind: 'text', value: 'EXPRESSION', meaning: 'Five fields, or six with seconds first.' },
  every: {
    kind: 'integer',
    min: 1,
    max: 31_536_000,
    value: 'SECONDS',
    meaning: 'Instead of --cron: a fixed interval.',
  },
  zone: { kind: 'text', value: 'ZONE', meaning: 'The IANA time zone of the expression.', fallback: 'UTC' },
}

export function rhythm(call: Call): Rhythm {
  const every = call.integer('every')
  const read = {
    cron: call.text('cron'),
    zone: call.text('zone') ?? 'UTC',
    intervalMs: every === null ? null : every * 1000,
  }
  checkRhythm(read)
  return read
}
