// Cuts payloads out of a JSON document without parsing them: one pass proves the whole text to be JSON, counts depth, and
// notes where the wanted values stand; only the rest, the envelope, is parsed. A payload's text is thus carried as it came:
// big integers, key order, escapes, `\u0000`. A payload that is too deep or no UTF-8 is a fault of its own piece and leaves
// the others alone; text that is no JSON is a fault of the document. Browser-safe: the client cuts answers the same way.
import { LockstepError } from './errors.ts'
import { LIMITS } from './limits.ts'

/** Which values are cut: `cut` says this one; `keys` and `each` lead on into objects and arrays. */
export interface Shape {
  readonly cut?: true
  readonly keys?: ReadonlyMap<string, Shape>
  readonly each?: Shape
}

export const CUT: Shape = { cut: true }
export const inObject = (keys: Readonly<Record<string, Shape>>): Shape => ({ keys: new Map(Object.entries(keys)) })
export const inArray = (each: Shape): Shape => ({ each })
export const inEither = (listed: Shape, keyed: Shape): Shape => ({ ...listed, ...keyed })

export interface Piece {
  readonly text: string
  /** What is wrong with this value alone, or null. */
  readonly fault: string | null
}

export interface Sliced {
  /** The document with the number n standing where piece n was. */
  readonly envelope: unknown
  readonly pieces: readonly Piece[]
}

/** Turns the raw text of a part into text, null when it is no UTF-8. Needed only for a document with broken bytes in it. */
export type Decode = (raw: string) => string | null

// The state of the one scan that runs (it never yields); module variables, because a closure per request costs more than the scan.
let source = ''
let at = 0
let decode: Decode | null = null
let pieces: Piece[] = []
let envelope = ''
let copied = 0
let tooDeep = false
let inPiece = false
let values = 0
let most = 0

const bad = (what: string): LockstepError => new LockstepError('bad_request', `bad body: ${what}`)

function unexpected(): never {
  const where = at < source.length ? `unexpected character at position ${at}` : 'unexpected end'
  throw bad(`no JSON, ${where}`)
}

function space(): void {
  for (;;) {
    const c = source.charCodeAt(at)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
    at += 1
  }
}

/** Skips a string; `at` stands on its opening quote. True when it holds an escape. */
function string(): boolean {
  let escaped = false
  at += 1
  for (;;) {
    const c = source.charCodeAt(at)
    if (c === 0x22) {
      at += 1
      return escaped
    }
    if (c === 0x5c) {
      escaped = true
      escape()
    } else if (c >= 0x20) at += 1
    else unexpected() // a control character, or NaN at the end
  }
}

function escape(): void {
  const c = source.charCodeAt(at + 1)
  if (c === 0x75) {
    for (let i = 2; i < 6; i++) {
      const h = source.charCodeAt(at + i)
      if (!((h >= 0x30 && h <= 0x39) || (h >= 0x41 && h <= 0x46) || (h >= 0x61 && h <= 0x66))) {
        at += i
        unexpected()
      }
    }
    at += 6
    return
  }
  // " / \ b f n r t
  if (c === 0x22 || c === 0x2f || c === 0x5c || c === 0x62 || c === 0x66 || c === 0x6e || c === 0x72 || c === 0x74) {
    at += 2
    return
  }
  at += 1
  unexpected()
}

function digits(): void {
  const start = at
  for (;;) {
    const c = source.charCodeAt(at)
    if (!(c >= 0x30 && c <= 0x39)) break
    at += 1
  }
  if (at === start) unexpected()
}

function number(): void {
  if (source.charCodeAt(at) === 0x2d) at += 1
  if (source.charCodeAt(at) === 0x30) at += 1
  else digits()
  if (source.charCodeAt(at) === 0x2e) {
    at += 1
    digits()
  }
  const c = source.charCodeAt(at)
  if (c === 0x65 || c === 0x45) {
    at += 1
    const sign = source.charCodeAt(at)
    if (sign === 0x2b || sign === 0x2d) at += 1
    digits()
  }
}

function word(expected: string): void {
  if (!source.startsWith(expected, at)) unexpected()
  at += expected.length
}

/** Past a container that is deeper than the limit: brackets are counted, nothing recurses. */
function skipDeep(): void {
  if (!inPiece) throw bad(`deeper than ${LIMITS.jsonDepth} levels`)
  tooDeep = true
  let open = 0
  for (;;) {
    const c = source.charCodeAt(at)
    if (c === 0x22) {
      string()
      continue
    }
    if (c === 0x5b || c === 0x7b) open += 1
    else if (c === 0x5d || c === 0x7d) open -= 1
    else if (at >= source.length) unexpected()
    at += 1
    if (open === 0) return
  }
}

function objectValue(depth: number, shape: Shape | undefined): void {
  at += 1
  space()
  if (source.charCodeAt(at) === 0x7d) {
    at += 1
    return
  }
  const keys = shape?.keys
  for (;;) {
    if (source.charCodeAt(at) !== 0x22) unexpected()
    const start = at
    const escaped = string()
    let below: Shape | undefined
    if (keys) {
      const key: unknown = escaped ? JSON.parse(source.slice(start, at)) : source.slice(start + 1, at - 1)
      below = keys.get(String(key))
    }
    space()
    if (source.charCodeAt(at) !== 0x3a) unexpected()
    at += 1
    space()
    value(depth, below)
    space()
    const c = source.charCodeAt(at)
    at += 1
    if (c === 0x7d) return
    if (c !== 0x2c) {
      at -= 1
      unexpected()
    }
    space()
  }
}

function arrayValue(depth: number, shape: Shape | undefined): void {
  at += 1
  space()
  if (source.charCodeAt(at) === 0x5d) {
    at += 1
    return
  }
  const each = shape?.each
  for (;;) {
    value(depth, each)
    space()
    const c = source.charCodeAt(at)
    at += 1
    if (c === 0x5d) return
    if (c !== 0x2c) {
      at -= 1
      unexpected()
    }
    space()
  }
}

function value(depth: number, shape: Shape | undefined): void {
  if (shape?.cut) {
    cut()
    return
  }
  // Only what is parsed afterwards takes memory by the value: a few bytes of text are tens of it.
  if (!inPiece && ++values > most) throw bad(`more than ${most} values beside the payloads`)
  const c = source.charCodeAt(at)
  if (c === 0x22) string()
  else if (c === 0x7b || c === 0x5b) {
    if (depth >= LIMITS.jsonDepth) skipDeep()
    else if (c === 0x7b) objectValue(depth + 1, shape)
    else arrayValue(depth + 1, shape)
  } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) number()
  else if (c === 0x74) word('true')
  else if (c === 0x66) word('false')
  else if (c === 0x6e) word('null')
  else unexpected()
}

function decoded(raw: string, what: string): string {
  if (!decode) return raw
  const text = decode(raw)
  if (text === null) throw bad(`${what} is no UTF-8`)
  return text
}

/** The depth of a payload is counted from its own first bracket, wherever it travels. */
function cut(): void {
  const start = at
  tooDeep = false
  inPiece = true
  value(0, undefined)
  inPiece = false
  envelope += `${decoded(source.slice(copied, start), 'a key or value')}${pieces.length}`
  copied = at
  const raw = source.slice(start, at)
  if (tooDeep) pieces.push({ text: '', fault: `at most ${LIMITS.jsonDepth} levels deep` })
  else {
    const text = decode ? decode(raw) : raw
    pieces.push(text === null ? { text: '', fault: 'valid UTF-8' } : { text, fault: null })
  }
}

/**
 * Proves `text` to be one JSON document and cuts the values that `shape` names. `broken` decodes parts of a text with bad bytes;
 * a document with more values than `valuesAtMost` outside of those is refused.
 */
export function sliceJson(
  text: string,
  shape: Shape,
  broken: Decode | null = null,
  valuesAtMost = Number.POSITIVE_INFINITY,
): Sliced {
  source = text
  at = 0
  decode = broken
  pieces = []
  envelope = ''
  copied = 0
  inPiece = false
  values = 0
  most = valuesAtMost
  try {
    space()
    value(0, shape)
    space()
    if (at < source.length) unexpected()
    envelope += decoded(source.slice(copied), 'a key or value')
    return { envelope: JSON.parse(envelope), pieces }
  } finally {
    source = ''
    envelope = ''
    pieces = []
  }
}
