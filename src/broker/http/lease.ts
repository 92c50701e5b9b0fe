// POST /lease/:leaseId/extend: moves a live lease's end forward; a lapsed one stays lapsed. Always 200.
import { LIMITS } from '../../protocol/limits.ts'
import { leaseIdText } from '../../protocol/names.ts'
import { integer, isRecord, optional, readFields, root } from '../../protocol/check.ts'
import { sliced } from '../../protocol/request-body.ts'
import { bodyText } from './read-body.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const EXTEND_BODY = { seconds: optional(integer(1, LIMITS.leaseSeconds), LIMITS.extendSecondsDefault) } as const

async function extend(call: Call): Promise<Answer> {
  const leaseId = leaseIdText.read(call.params['leaseId'], root(), 'leaseId')
  const { renewed, expiresAt } = await call.parts.traffic.extend(leaseId, secondsOf(call))
  return json(
    JSON.stringify({
      leaseId,
      success: renewed > 0,
      renewed,
      newExpiresAt: expiresAt,
      expiresAt,
      lease_expires_at: expiresAt,
    }),
  )
}

/** Missing or a body that is no JSON object is the default: the wire says so. A number that cannot be meant is refused. */
function secondsOf(call: Call): number {
  let envelope: unknown = null
  try {
    ;({ envelope } = sliced(bodyText(call.body), {}))
  } catch {
    envelope = null
  }
  return isRecord(envelope) ? readFields(EXTEND_BODY, envelope, root()).seconds : LIMITS.extendSecondsDefault
}

export const leaseRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/lease/:leaseId/extend',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Extends every live lease of this id to at least \`seconds\` from now (default ${LIMITS.extendSecondsDefault}, at most ${LIMITS.leaseSeconds}).`,
    body: EXTEND_BODY,
    answers: {
      200: '{"leaseId":"…","success":true,"renewed":1,"newExpiresAt":"…","expiresAt":"…","lease_expires_at":"…"}',
      400: '`seconds` is no whole number in its bounds; the lease stays as it was.',
    },
    handle: extend,
  },
]
