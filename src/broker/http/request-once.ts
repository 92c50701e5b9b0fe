// The id of a request and what it stands for: a request with an id is done once, and a repeat gets the first committed answer.
import { createHash } from 'node:crypto'
import { refuse, root } from '../../protocol/check.ts'
import { requestIdText } from '../../protocol/names.ts'
import { doneOnce } from '../../traffic/done-once.ts'
import type { Work } from '../../traffic/done-once.ts'
import type { Call } from './route.ts'

/** The request's id: of the body, or of the Idempotency-Key header; the two may not differ. */
export function requestIdOf(call: Call, ofBody: string | null): string | null {
  const header = call.request.headers['idempotency-key']
  if (header === undefined) return ofBody
  const ofHeader = requestIdText.read(header, root('header '), 'idempotency-key')
  if (ofBody !== null && ofBody !== ofHeader) refuse(root(), 'requestId', 'the same as the Idempotency-Key header')
  return ofHeader
}

/** Of the route, the caller and the body's bytes: the same id may not be used for something else or by somebody else. */
export function bodyHash(call: Call): string {
  return createHash('sha256')
    .update(call.route.path)
    .update('\0')
    .update(call.sub === null ? '' : `${call.sub}\0`)
    .update(call.body)
    .digest('hex')
}

/** In one commit of its own; an answer that changed nothing is rolled back, and the first committed answer under the request id is that of every repeat. */
export function once(call: Call, id: string, work: Work): Promise<string> {
  const { database, traffic } = call.parts
  return doneOnce(database, traffic.admission, { id, bodyHash: bodyHash(call) }, work)
}
