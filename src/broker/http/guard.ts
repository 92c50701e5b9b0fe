// What is refused before a handler sees it: requests for another name than this broker's (a page whose name was pointed at
// localhost), pages of other origins (an image or a link of theirs would pop, which takes no more than a GET), bodies that are
// not JSON (a form or text/plain needs no permission from a browser, so it is never read as JSON), and compressed bodies.
// Clients that are no browser send none of the headers that tell a page, and pass.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { LockstepError } from '../../protocol/errors.ts'
import type { HostRule } from '../config.ts'
import type { Route } from './route.ts'

/** Throws what is wrong with the request's headers for this route. */
export function guard(request: IncomingMessage, route: Route, hosts: HostRule): void {
  const { headers } = request
  if (headers.host !== undefined && !hosts.answersTo(headers.host)) {
    throw new LockstepError(
      'forbidden',
      'this broker is not reached under the name in the Host header; LOCKSTEP_HOST_NAMES may name it',
      { field: 'host' },
    )
  }
  if (route.access !== 'public' && isForeign(headers, hosts)) {
    throw new LockstepError('forbidden', 'pages of other origins may not call this')
  }
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new LockstepError('unsupported_media_type', 'the body must be sent uncompressed')
  }
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new LockstepError('unsupported_media_type', 'the body must be application/json')
  }
}

/** Whether a page of another origin sent it. An image, a link or a form's GET has no Origin; browsers tell those by the rest. */
function isForeign(headers: IncomingHttpHeaders, hosts: HostRule): boolean {
  const { origin, referer } = headers
  const site = headers['sec-fetch-site']
  if (origin !== undefined && !isOwn(origin, headers, hosts)) return true
  // A page under a name that was told may stand before a proxy, which is another site to the browser.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none' && origin === undefined
  return origin === undefined && referer !== undefined && !isOwn(referer, headers, hosts)
}

function isOwn(page: string, { host = '' }: IncomingHttpHeaders, hosts: HostRule): boolean {
  const url = URL.canParse(page) ? new URL(page) : null
  return url !== null && hosts.isOwn(url.host, host)
}
