// Decodes what is asked about schedules over HTTP. The input of their runs is cut out of the body and stays the bytes it was;
// whether an expression and a zone are right is judged where slots are computed.
import { integer, oneOf, optional, readFields, refuse, text } from './check.ts'
import type { Field } from './check.ts'
import { CUT, inObject } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import type { Rhythm } from './next-slots.ts'
import { bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import type { ScheduleDefinition } from './schedule.ts'
import { utf8Length } from './utf8.ts'

const nameText = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })

export const scheduleName: Field<string> = nameText
export const scheduleCron: Field<string> = text({ min: 1, max: LIMITS.nameBytes })
export const scheduleZone: Field<string> = text({ min: 1, max: LIMITS.nameBytes })
export const scheduleInterval: Field<number> = integer(1_000, LIMITS.runDelayMs)
export const schedulePriority: Field<number> = integer(-LIMITS.runPriority, LIMITS.runPriority)
export const misfireChoice: Field<'skip' | 'once' | 'all'> = oneOf('skip', 'once', 'all')
export const overlapChoice: Field<'allow' | 'skip'> = oneOf('allow', 'skip')
export const previewCount: Field<number> = integer(1, LIMITS.previewSlots)

const RHYTHM = {
  cron: optional(scheduleCron, null),
  zone: optional(scheduleZone, 'UTC'),
  intervalMs: optional(scheduleInterval, null),
} as const

export const SCHEDULE_BODY = {
  ...RHYTHM,
  target: nameText,
  priority: optional(schedulePriority, 0),
  misfire: optional(misfireChoice, 'once'),
  overlap: optional(overlapChoice, 'allow'),
} as const

export const PREVIEW_BODY = { ...RHYTHM, count: optional(previewCount, 10) } as const

export function decodeSchedule(name: string, body: RequestBody): ScheduleDefinition {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, inObject({ input: CUT }))
  const source = recordOf(envelope, place)
  const fields = readFields(SCHEDULE_BODY, source, place)
  const input = pieceOf(pieces, source, 'input')
  if (input !== null && input.fault !== null) refuse(place, 'input', input.fault)
  if (input !== null && utf8Length(input.text) > LIMITS.runValueBytes) {
    refuse(place, 'input', `at most ${LIMITS.runValueBytes} bytes`, 'payload_too_large')
  }
  return { ...fields, name, input: input?.text ?? 'null' }
}

export function decodePreview(body: RequestBody): Rhythm & { readonly count: number } {
  const place = bodyPlace()
  return readFields(PREVIEW_BODY, recordOf(sliced(body, {}).envelope, place), place)
}
