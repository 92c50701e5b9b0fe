// The bearer token of a client: a text, or a function that is asked for one, once for all requests that wait for it. It is
// never part of a message; what is no token is refused without being repeated.
import { LockstepError } from '../../protocol/errors.ts'

export interface Token {
  get(): string | Promise<string>
  /** The broker refused this one. True when another may be had by `get`. */
  drop(refused: string): boolean
}

/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]+$/

function demandToken(token: unknown): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw new LockstepError(
    'bad_request',
    'token must be a text without spaces that a header can carry, or a function that gives one',
    {
      field: 'token',
    },
  )
}

export function createToken(source: string | (() => string | Promise<string>)): Token {
  if (typeof source !== 'function') {
    const fixed = demandToken(source)
    return { get: () => fixed, drop: () => false }
  }
  let kept: string | null = null
  let asking: Promise<string> | null = null

  async function ask(give: () => string | Promise<string>): Promise<string> {
    try {
      kept = demandToken(await give())
      return kept
    } finally {
      asking = null
    }
  }

  return {
    get: () => kept ?? (asking ??= ask(source)),
    drop(refused) {
      if (kept === refused) kept = null
      return true
    },
  }
}
