// Reads an answer of the broker: the envelope through declared fields, payloads and values as the text that travelled.
// What does not fit is a fault of the broker (`internal`), never a guess.
import {
  integer,
  isRecord,
  readFields,
  refuse,
  root,
  type Field,
  type Fields,
  type Values,
} from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { sliceJson, type Piece, type Shape } from '../../protocol/json-slices.ts'

/** Text of any length: the body's own limit bounds it. */
export const plainText: Field<string> = {
  type: 'text',
  optional: false,
  read: (value, place, name) => (typeof value === 'string' ? value : refuse(place, name, 'text')),
}

export const plainNumber: Field<number> = {
  type: 'a number',
  optional: false,
  read: (value, place, name) => (typeof value === 'number' ? value : refuse(place, name, 'a number')),
}

export const amount: Field<number> = integer(0, Number.MAX_SAFE_INTEGER)

export interface Answer {
  readonly envelope: unknown
  readonly pieces: readonly Piece[]
}

export type AnswerRecord = Readonly<Record<string, unknown>>

function unexpected(what: string, cause?: unknown): never {
  throw new LockstepError('internal', `the broker's answer ${what}`, {}, cause)
}

export function readAnswer(text: string, shape: Shape): Answer {
  try {
    return sliceJson(text, shape)
  } catch (error) {
    return unexpected('is not JSON', error)
  }
}

export function recordIn(value: unknown): AnswerRecord {
  return isRecord(value) ? value : unexpected('is not an object')
}

/** The elements of an array, all objects; `length` is what the request makes them be. */
export function recordsIn(value: unknown, length: number | null): readonly AnswerRecord[] {
  if (!Array.isArray(value)) return unexpected('is not an array')
  if (length !== null && value.length !== length) {
    return unexpected(`has ${value.length} results where ${length} were due`)
  }
  return value.map(recordIn)
}

export function fieldsIn<F extends Fields>(fields: F, source: unknown): Values<F> {
  try {
    return readFields(fields, source, root('answer: '))
  } catch (error) {
    return unexpected(error instanceof Error ? `has a wrong field: ${error.message}` : 'has a wrong field', error)
  }
}

/** A member by what it is called here and there: the wire's name, and how it is read. */
export type Named = Readonly<Record<string, readonly [wire: string, field: Field<unknown>]>>
type NamedValues<N extends Named> = { readonly [K in keyof N]: N[K][1] extends Field<infer T> ? T : never }

/** Fields that the wire calls otherwise. */
export function namedIn<const N extends Named>(named: N, source: AnswerRecord): NamedValues<N> {
  const read = Object.entries(named).map(([name, [wire, field]]) => [name, fieldsIn({ [wire]: field }, source)[wire]])
  // Each name has the value of its own field; the compiler cannot follow a loop over keys.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(read) as NamedValues<N>
}

/** The text of a cut member; null when it is absent or JSON null. */
export function textIn(answer: Answer, source: AnswerRecord, name: string): string | null {
  const ordinal = Object.hasOwn(source, name) ? source[name] : undefined
  if (typeof ordinal !== 'number') return null
  const piece = answer.pieces[ordinal]
  if (piece === undefined || piece.fault !== null) return unexpected(`has a ${name} that cannot be read`)
  return piece.text
}
