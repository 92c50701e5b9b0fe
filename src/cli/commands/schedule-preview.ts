// `lockstep schedule preview`: the next slots of an expression, without a database.

import { LIMITS } from '../../protocol/limits.ts'
import { slotsAfter } from '../../protocol/next-slots.ts'
import type { Command } from '../command.ts'
import { RHYTHM_OPTIONS, rhythm } from '../rhythm.ts'

export const schedulePreview: Command = {
  name: 'schedule preview',
  summary: 'Show the next slots of a cron expression or an interval.',
  detail: 'Needs no database. A fixed hour fires once per local day, also where the clocks change.',
  arguments: [],
  options: {
    ...RHYTHM_OPTIONS,
    count: { kind: 'integer', min: 1, max: LIMITS.previewSlots, value: 'N', meaning: 'How many.', fallback: '10' },
  },
  examples: ['lockstep schedule preview --cron "30 2 * * *" --zone Europe/Rome'],
  async run(call) {
    const read = rhythm(call)
    const slots = slotsAfter(read, new Date(), call.integer('count') ?? 10)
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: read.zone, dateStyle: 'full', timeStyle: 'long' })
    call.output.result({ slots: slots.map((slot) => slot.toISOString()) }, () =>
      slots.map((slot) => `${slot.toISOString()}  ${local.format(slot)}`).join('\n'),
    )
    return 0
  },
}
