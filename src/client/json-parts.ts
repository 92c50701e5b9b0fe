// Cuts the members of a JSON object and the elements of a JSON array out of their text without re-printing them, so that a
// payload's text is exactly the bytes that travelled. The text has to be valid JSON; on anything else it says so.
import { LockstepError } from '../protocol/errors.ts'

const SPACE = /[\t\n\r ]*/y
const SCALAR = /-?[\d.eE+-]+|true|false|null/y

function broken(at: number): never {
  throw new LockstepError('internal', `the answer is not JSON at position ${at}`)
}

function pastSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.test(text)
  return SPACE.lastIndex
}

/** The position after the string that begins at `at`. */
function pastString(text: string, at: number): number {
  let end = at
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end < 0) broken(at)
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
}

/** The position after the object or array that begins at `at`; only brackets and strings matter. */
function pastNested(text: string, at: number): number {
  let depth = 0
  let position = at
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === 34) {
      position = pastString(text, position)
      continue
    }
    if (code === 123 || code === 91) depth += 1
    else if (code === 125 || code === 93) {
      depth -= 1
      if (depth === 0) return position + 1
    }
    position += 1
  }
  return broken(at)
}

function pastValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return pastString(text, at)
  if (first === '{' || first === '[') return pastNested(text, at)
  SCALAR.lastIndex = at
  return SCALAR.test(text) ? SCALAR.lastIndex : broken(at)
}

/** The text of each member's value, by name. A repeated name keeps the last, as JSON.parse does. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let at = pastSpace(text, 0)
  if (text[at] !== '{') broken(at)
  at = pastSpace(text, at + 1)
  while (text[at] !== '}') {
    if (text[at] !== '"') broken(at)
    const nameEnd = pastString(text, at)
    const name: unknown = JSON.parse(text.slice(at, nameEnd))
    at = pastSpace(text, nameEnd)
    if (text[at] !== ':') broken(at)
    at = pastSpace(text, at + 1)
    const end = pastValue(text, at)
    members.set(String(name), text.slice(at, end))
    at = pastSpace(text, end)
    if (text[at] === ',') at = pastSpace(text, at + 1)
    else if (text[at] !== '}') broken(at)
  }
  return members
}

/** The text of each element. */
export function elementTexts(text: string): readonly string[] {
  const elements: string[] = []
  let at = pastSpace(text, 0)
  if (text[at] !== '[') broken(at)
  at = pastSpace(text, at + 1)
  while (text[at] !== ']') {
    const end = pastValue(text, at)
    elements.push(text.slice(at, end))
    at = pastSpace(text, end)
    if (text[at] === ',') at = pastSpace(text, at + 1)
    else if (text[at] !== ']') broken(at)
  }
  return elements
}
