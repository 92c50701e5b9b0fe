// A request body as it reached the door: text that is either all of UTF-8 or comes with the means to tell which part is
// not. Every decoder starts here; the message of a fault opens with the wire's `bad body: `.
import { isRecord, refuse, root } from './check.ts'
import type { Place } from './check.ts'
import { sliceJson } from './json-slices.ts'
import type { Decode, Piece, Shape, Sliced } from './json-slices.ts'
import { LIMITS } from './limits.ts'

export interface RequestBody {
  readonly text: string
  /** Only when the bytes are no UTF-8: then `text` holds one character per byte. */
  readonly broken: Decode | null
}

export const bodyPlace = (): Place => root('bad body: ')

export const sliced = (body: RequestBody, shape: Shape): Sliced =>
  sliceJson(body.text, shape, body.broken, LIMITS.bodyValues)

/** The piece that a field's number stands for; null when the field is absent. */
export function pieceOf(
  pieces: readonly Piece[],
  source: Readonly<Record<string, unknown>>,
  name: string,
): Piece | null {
  const ordinal = Object.hasOwn(source, name) ? source[name] : undefined
  return typeof ordinal === 'number' ? (pieces[ordinal] ?? null) : null
}

/** The elements of an array field; absent or null gives an empty one. */
export function arrayOf(
  source: Readonly<Record<string, unknown>>,
  name: string,
  place: Place,
  max: number,
): readonly unknown[] {
  const value = Object.hasOwn(source, name) ? source[name] : undefined
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) refuse(place, name, 'an array')
  if (value.length > max) refuse(place, name, `an array of at most ${max}`)
  return value
}

export function recordOf(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) refuse(place, '', 'an object')
  return value
}
