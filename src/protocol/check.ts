// The one mechanism for checking what comes from outside: a field is declared once (its kind, its bounds, what it means),
// and bodies, query parameters, headers and settings are read through tables of fields. Only declared names are read, each
// by its own key, so `__proto__` and its like are data. The message names the field and says what would be right.
import { LockstepError } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { utf8Length } from './utf8.ts'

/** Where a value stands: `items[3].queue`. Made into text only for a fault; a loop may reuse one and move its step. */
export interface Place {
  readonly parent: Place | null
  step: string | number
}

export type JsonSchema = Readonly<Record<string, unknown>>

export interface Field<T> {
  /** For the reference: 'text of 1 to 512 bytes'. */
  readonly type: string
  readonly optional: boolean
  /** The same for machines, as JSON Schema; absent where words say it better. */
  readonly schema?: JsonSchema
  /** The checked value; throws LockstepError naming the place. */
  readonly read: (value: unknown, place: Place, name: string) => T
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** The start of a path; `prefix` opens every message below it, as in 'bad body: '. */
export const root = (prefix = ''): Place => ({ parent: null, step: prefix })

export function pathOf(place: Place, name = ''): string {
  let path = name
  for (let at: Place | null = place; at?.parent; at = at.parent) {
    const step = typeof at.step === 'number' ? `[${at.step}]` : at.step
    path = path === '' ? step : path.startsWith('[') ? step + path : `${step}.${path}`
  }
  return path
}

function prefixOf(place: Place): string {
  let at = place
  while (at.parent) at = at.parent
  return String(at.step)
}

/** Throws: `<prefix><path> must be <right>`. */
export function refuse(place: Place, name: string, right: string, code: ErrorCode = 'bad_request'): never {
  const field = pathOf(place, name)
  throw new LockstepError(code, `${prefixOf(place)}${field === '' ? 'it' : field} must be ${right}`, { field })
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads every declared field of a record. Unknown keys are ignored: the wire says so. */
export function readFields<F extends Fields>(fields: F, source: unknown, place: Place): Values<F> {
  if (!isRecord(source)) refuse(place, '', 'an object')
  const values: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name]
    if (field) values[name] = field.read(Object.hasOwn(source, name) ? source[name] : undefined, place, name)
  }
  // The loop above gave each declared name the value of its own field; the compiler cannot follow a loop over keys.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as Values<F>
}

export interface TextBounds {
  readonly min?: number
  readonly max: number
  readonly what?: string
  /** The code for a text that is too long. */
  readonly longCode?: ErrorCode
  /** A further rule: what would be right, or null. */
  readonly rule?: (text: string) => string | null
}

/** Text of `min` to `max` bytes of UTF-8 without NUL: what a text column can hold. */
export function text(bounds: TextBounds): Field<string> {
  const { min = 0, max, rule, longCode = 'bad_request' } = bounds
  const type = `${bounds.what ?? 'text'} of ${min} to ${max} bytes`
  return {
    type,
    optional: false,
    schema: { type: 'string', ...(min > 0 ? { minLength: min } : {}), maxLength: max },
    read(value, place, name) {
      if (typeof value !== 'string') refuse(place, name, type)
      if (value.length < min) refuse(place, name, type)
      if (value.length > max) refuse(place, name, type, longCode)
      const bytes = utf8Length(value)
      if (bytes < 0) refuse(place, name, 'valid Unicode: it holds half a surrogate pair')
      if (bytes > max) refuse(place, name, type, longCode)
      if (value.includes('\0')) refuse(place, name, 'text without NUL')
      const right = rule ? rule(value) : null
      if (right !== null) refuse(place, name, right)
      return value
    },
  }
}

export function integer(min: number, max: number): Field<number> {
  const type = `an integer from ${min} to ${max}`
  return {
    type,
    optional: false,
    schema: { type: 'integer', minimum: min, maximum: max },
    read(value, place, name) {
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) refuse(place, name, type)
      if (value < min || value > max) refuse(place, name, type)
      return value === 0 ? 0 : value
    },
  }
}

export const boolean: Field<boolean> = {
  type: 'a boolean',
  optional: false,
  schema: { type: 'boolean' },
  read(value, place, name) {
    if (typeof value !== 'boolean') refuse(place, name, 'a boolean')
    return value
  },
}

export function oneOf<const T extends string>(...choices: readonly T[]): Field<T> {
  const type = `one of ${choices.join(', ')}`
  return {
    type,
    optional: false,
    schema: { type: 'string', enum: choices },
    read(value, place, name) {
      const choice = choices.find((each) => each === value)
      if (choice === undefined) refuse(place, name, type)
      return choice
    },
  }
}

export function list<T>(max: number, each: Field<T>): Field<readonly T[]> {
  const type = `an array of at most ${max}, each ${each.type}`
  return {
    type,
    optional: false,
    schema: { type: 'array', maxItems: max, items: each.schema ?? {} },
    read(value, place, name) {
      if (!Array.isArray(value) || value.length > max) refuse(place, name, type)
      const elements: readonly unknown[] = value
      const at: Place = { parent: { parent: place, step: name }, step: 0 }
      return elements.map((element, index) => {
        at.step = index
        return each.read(element, at, '')
      })
    },
  }
}

/** Absent or null gives the fallback. */
export function optional<T, const D>(field: Field<T>, fallback: D): Field<T | D> {
  return {
    type: field.type,
    optional: true,
    ...(field.schema === undefined ? {} : { schema: field.schema }),
    read: (value, place, name) => (value === undefined || value === null ? fallback : field.read(value, place, name)),
  }
}

/** A number in a query parameter, a header or a setting. */
export function integerText(min: number, max: number): Field<number> {
  const field = integer(min, max)
  return {
    type: field.type,
    optional: false,
    ...(field.schema === undefined ? {} : { schema: field.schema }),
    read(value, place, name) {
      if (typeof value !== 'string' || !/^-?[0-9]{1,16}$/.test(value)) refuse(place, name, field.type)
      return field.read(Number(value), place, name)
    },
  }
}

/** `true` or `false` in a query parameter or a setting. */
export const booleanText: Field<boolean> = {
  type: 'true or false',
  optional: false,
  schema: { type: 'boolean' },
  read(value, place, name) {
    if (value !== 'true' && value !== 'false') refuse(place, name, 'true or false')
    return value === 'true'
  },
}
