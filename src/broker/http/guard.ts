// What is refused before a handler sees it: requests for another name than this broker's (a page whose name was pointed at
// localhost), pages of other origins that would change something, bodies that are not JSON (a form or text/plain needs no
// permission from a browser, so it is never read as JSON), and compressed bodies.
import type { IncomingMessage } from 'node:http'
import { LockstepError } from '../../protocol/errors.ts'
import type { Route } from './route.ts'

/** Throws what is wrong with the request's headers for this route. */
export function guard(request: IncomingMessage, route: Route, answersTo: ((host: string) => boolean) | null): void {
  const { headers } = request
  if (answersTo !== null && headers.host !== undefined && !answersTo(headers.host)) {
    throw new LockstepError('forbidden', 'this broker answers to localhost only; LOCKSTEP_HOST_NAMES may name others', {
      field: 'host',
    })
  }
  if (headers.origin !== undefined && route.changes) demandOwnOrigin(headers.origin, headers.host ?? '')
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new LockstepError('unsupported_media_type', 'the body must be sent uncompressed')
  }
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new LockstepError('unsupported_media_type', 'the body must be application/json')
  }
}

function demandOwnOrigin(origin: string, host: string): void {
  let own = false
  try {
    own = new URL(origin).host === host.toLowerCase()
  } catch {
    own = false
  }
  if (!own) throw new LockstepError('forbidden', 'a page of another origin may not change anything here')
}
