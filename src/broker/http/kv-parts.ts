// The parts of a body with key/value operations, one per kind, for the reference.
import { KV_FIELDS } from '../../protocol/kv-request.ts'
import type { Fields } from '../../protocol/check.ts'
import { CARRIED, DECIMAL, DECIMAL_OPTIONAL, operationParts } from './body-parts.ts'
import type { BodyPart } from './body-parts.ts'

export const KV_PARTS: readonly BodyPart[] = operationParts('operations[]', KV_FIELDS, {
  put: { value: CARRIED },
  incr: { delta: DECIMAL, min: DECIMAL_OPTIONAL, max: DECIMAL_OPTIONAL },
}).map(({ at, fields }) => ({ at: at.replace('"put"', '"put" or "putIfAbsent"'), fields }))

/** What is left to say where the path names the key. */
export const kvPathFields = (op: 'put' | 'delete'): Fields =>
  Object.fromEntries(Object.entries<Fields[string]>(KV_FIELDS[op]).filter(([name]) => name !== 'ns' && name !== 'key'))
