// Reads a query string into plain text by name. Unknown names are the decoders' business; a name given twice with different
// values is refused, because guessing which one counts would be coercion.
import { LockstepError } from '../../protocol/errors.ts'

export function readQuery(text: string): Readonly<Record<string, string>> {
  const query: Record<string, string> = {}
  if (text === '') return query
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    if (Object.hasOwn(query, name) && query[name] !== value) {
      throw new LockstepError('bad_request', `query parameter ${name} must be given once`, { field: name })
    }
    // Defined, not assigned: a parameter called __proto__ is a name like any other.
    if (name === '__proto__') Object.defineProperty(query, name, { value, enumerable: true })
    else query[name] = value
  }
  return query
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw new LockstepError('bad_request', 'the query must be percent-encoded UTF-8', { field: 'query' })
  }
}
