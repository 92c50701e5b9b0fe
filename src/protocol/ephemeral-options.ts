// The options of an ephemeral queue: a closed list, since an unknown one bounds something in the caller's mind and is refused.
import { integer, isRecord, oneOf, optional, readFields, refuse, root } from './check.ts'
import type { Field, Place } from './check.ts'
import { EPHEMERAL_DEFAULTS } from './ephemeral.ts'
import type { EphemeralOptions } from './ephemeral.ts'
import { LIMITS } from './limits.ts'

export const EPHEMERAL_WINDOW = {
  ms: integer(0, LIMITS.ephemeralWindowMs),
  count: integer(1, LIMITS.popBatch),
} as const

const windowBuffer: Field<EphemeralOptions['windowBuffer']> = {
  type: 'an object with ms and count',
  optional: false,
  read(value, place, name) {
    if (!isRecord(value)) refuse(place, name, 'an object with ms and count')
    return readFields(EPHEMERAL_WINDOW, value, { parent: place, step: name })
  },
}

export const EPHEMERAL_OPTIONS = {
  maxBytes: optional(integer(1, LIMITS.ephemeralQueueBytes), EPHEMERAL_DEFAULTS.maxBytes),
  maxLength: optional(integer(1, LIMITS.ephemeralLength), EPHEMERAL_DEFAULTS.maxLength),
  policy: optional(oneOf('reject', 'dropOldest'), EPHEMERAL_DEFAULTS.policy),
  ttlSeconds: optional(integer(0, LIMITS.ttlSeconds), EPHEMERAL_DEFAULTS.ttlSeconds),
  leaseSeconds: optional(integer(1, LIMITS.leaseSeconds), EPHEMERAL_DEFAULTS.leaseSeconds),
  retryLimit: optional(integer(0, LIMITS.ephemeralRetryLimit), EPHEMERAL_DEFAULTS.retryLimit),
  windowBuffer: optional(windowBuffer, EPHEMERAL_DEFAULTS.windowBuffer),
} as const

export function ephemeralOptions(given: unknown, place: Place = root()): EphemeralOptions {
  const known = Object.keys(EPHEMERAL_OPTIONS)
  if (!isRecord(given)) refuse(place, '', 'an object')
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) refuse(place, name, `absent: the options are ${known.join(', ')}`)
  }
  return readFields(EPHEMERAL_OPTIONS, given, place)
}
