// Describes bodies whose fields stand in more than one place: a list of items, operations of several kinds. The fields are the
// ones that the door reads; only what is carried as bytes and read by no field is described here.
import type { Field, Fields, JsonSchema } from '../../protocol/check.ts'
import { QUEUE_OPTIONS } from '../../protocol/queue-options.ts'
import type { QueueOption } from '../../protocol/queue-options.ts'

export interface BodyPart {
  /** Where in the body: '' for the body itself, `items[]` for each element of a list. */
  readonly at: string
  readonly fields: Fields
}

function described(type: string, optional: boolean, schema: JsonSchema = {}): Field<unknown> {
  return { type, optional, schema, read: (value) => value }
}

/** JSON that the broker does not interpret. */
export const CARRIED: Field<unknown> = described('any JSON value, carried as its bytes', false)
export const CARRIED_OPTIONAL: Field<unknown> = described(CARRIED.type, true)
export const DECIMAL: Field<unknown> = described('a number of any size, carried as its digits', false, {
  type: 'number',
})
export const DECIMAL_OPTIONAL: Field<unknown> = described(DECIMAL.type, true, { type: 'number' })
export const BASE64_JSON: Field<unknown> = described('base64 of JSON text, instead of `data`', true, {
  type: 'string',
  contentEncoding: 'base64',
})
/** Of the lists whose elements are described apart. */
export const listed = (optional: boolean, most: number): Field<unknown> =>
  described(`an array of at most ${most}, each as below`, optional, { type: 'array', maxItems: most })

/** One part per kind of operation, of a table that has the field `op` and the fields of each kind. */
export function operationParts(
  at: string,
  table: Readonly<Record<string, Fields | Field<unknown>>>,
  carried: Readonly<Record<string, Fields>> = {},
): readonly BodyPart[] {
  return Object.entries(table).flatMap(([op, fields]) =>
    isField(fields) ? [] : [{ at: `${at} with "op":"${op}"`, fields: { ...fields, ...carried[op] } }],
  )
}

function isField(entry: Fields | Field<unknown>): entry is Field<unknown> {
  return typeof entry['read'] === 'function'
}

/** The options of a queue as fields. */
export const OPTION_FIELDS: Fields = Object.fromEntries(
  Object.entries<QueueOption>(QUEUE_OPTIONS).map(([name, option]) => [
    name,
    described(optionType(option), true, optionSchema(option)),
  ]),
)

function optionSchema({ kind, min, max }: QueueOption): JsonSchema {
  return {
    type: [kind === 'text' ? 'string' : kind, 'null'],
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  }
}

function optionType({ kind, min, max, fallback }: QueueOption): string {
  const bounds = [min === undefined ? '' : ` from ${min}`, max === undefined ? '' : ` to ${max}`].join('')
  const type = kind === 'integer' ? `an integer${bounds}` : kind === 'boolean' ? 'a boolean' : 'text'
  return `${type}; null puts it back to ${fallback === '' ? 'empty' : String(fallback)}`
}
