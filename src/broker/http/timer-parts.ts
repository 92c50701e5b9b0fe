// The parts of a body with timer operations, one per kind, for the reference.
import { TIMER_FIELDS } from '../../protocol/timer-request.ts'
import { BASE64_JSON, CARRIED_OPTIONAL, operationParts } from './body-parts.ts'
import type { BodyPart } from './body-parts.ts'

export const TIMER_PARTS: readonly BodyPart[] = operationParts('operations[]', TIMER_FIELDS, {
  schedule: { data: CARRIED_OPTIONAL, payload: BASE64_JSON },
}).map(({ at, fields }) => ({ at: at.replace('"schedule"', '"schedule" or "reschedule"'), fields }))
