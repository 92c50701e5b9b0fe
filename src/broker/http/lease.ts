// POST /lease/:leaseId/extend: moves a live lease's end forward; a lapsed one stays lapsed. Always 200.
import { LIMITS } from '../../protocol/limits.ts'
import { leaseIdText } from '../../protocol/names.ts'
import { root } from '../../protocol/check.ts'
import { sliced } from '../../protocol/request-body.ts'
import { bodyText } from './read-body.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

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

/** Missing or malformed is the default: the wire says so, and a renew must not fail for its shape. */
function secondsOf(call: Call): number {
  let seconds: unknown = null
  try {
    const { envelope } = sliced(bodyText(call.body), {})
    seconds =
      typeof envelope === 'object' && envelope !== null && Object.hasOwn(envelope, 'seconds')
        ? Reflect.get(envelope, 'seconds')
        : null
  } catch {
    seconds = null
  }
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return LIMITS.extendSecondsDefault
  return Math.min(Math.max(1, Math.floor(seconds)), LIMITS.leaseSeconds)
}

export const leaseRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/lease/:leaseId/extend',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Extends every live lease of this id to at least \`seconds\` from now (default ${LIMITS.extendSecondsDefault}, at most ${LIMITS.leaseSeconds}).`,
    body: '{"seconds": 60}',
    answers: {
      200: '{"leaseId":"…","success":true,"renewed":1,"newExpiresAt":"…","expiresAt":"…","lease_expires_at":"…"}',
    },
    handle: extend,
  },
]
