// Decodes lock operations. A call names each lock once. Every fault has the wire's own shape: the code is the error, `reason`
// (locks_…) says which part was wrong.
import { integer, oneOf, optional, readFields } from './check.ts'
import type { Place } from './check.ts'
import { LockstepError } from './errors.ts'
import { inArray } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import type { LockOperation } from './lock.ts'
import { lockName, lockOwner, requestIdText } from './names.ts'
import { recordOf } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { becauseOf, eitherOf, operationsBody } from './operations-body.ts'

export interface LockRequest {
  readonly requestId: string | null
  readonly operations: readonly LockOperation[]
}

export const lockFault = (reason: string, detail: string): LockstepError =>
  new LockstepError('locks_bad_request', detail, { reason })

const because = becauseOf(lockFault)

const NAME = because('locks_bad_name', lockName)
const TTL = because('locks_bad_ttl', integer(1, LIMITS.ttlSeconds), 'locks_ttl_required')
const OWNER = because('locks_bad_owner', optional(lockOwner, null))
const TOKEN = because('locks_bad_token', integer(1, Number.MAX_SAFE_INTEGER), 'locks_token_required')
const SLOT = because('locks_bad_slot', optional(integer(0, LIMITS.lockPermits - 1), 0))

export const LOCK_FIELDS = {
  op: because('locks_unknown_op', oneOf('acquire', 'renew', 'release', 'get')),
  acquire: {
    name: NAME,
    ttlSeconds: TTL,
    owner: OWNER,
    limit: because('locks_bad_limit', optional(integer(1, LIMITS.lockPermits), 1)),
  },
  renew: { name: NAME, token: TOKEN, ttlSeconds: TTL, slot: SLOT, owner: OWNER },
  release: { name: NAME, token: TOKEN, slot: SLOT },
  get: { name: NAME },
} as const

export const LOCK_REQUEST_ID = { requestId: because('locks_bad_request_id', optional(requestIdText, null)) } as const
const SHAPE = eitherOf(inArray({}))

export function decodeLocks(body: RequestBody): LockRequest {
  const { requestId, elements, place } = operationsBody(body, SHAPE, LOCK_REQUEST_ID, lockFault, 'locks_bad_body')
  return { requestId, operations: lockOperations(elements, place) }
}

function lockOperations(elements: readonly unknown[], place: Place): readonly LockOperation[] {
  if (elements.length > LIMITS.lockOperations) {
    throw lockFault('locks_too_many_ops', `at most ${LIMITS.lockOperations} lock operations in one call`)
  }
  const at: Place = { parent: place, step: 0 }
  const named = new Set<string>()
  return elements.map((element, index) => {
    at.step = index
    const operation = lockOperation(element, at)
    if (named.has(operation.name)) {
      throw lockFault('locks_duplicate_in_call', `lock '${operation.name}' is named twice in one call`)
    }
    named.add(operation.name)
    return operation
  })
}

function lockOperation(element: unknown, at: Place): LockOperation {
  let source: Readonly<Record<string, unknown>>
  try {
    source = recordOf(element, at)
  } catch {
    throw lockFault('locks_bad_op', 'an operation must be an object')
  }
  const op = LOCK_FIELDS.op.read(source['op'], at, 'op')
  switch (op) {
    case 'acquire':
      return { op, ...readFields(LOCK_FIELDS.acquire, source, at) }
    case 'renew':
      return { op, ...readFields(LOCK_FIELDS.renew, source, at) }
    case 'release':
      return { op, ...readFields(LOCK_FIELDS.release, source, at) }
    case 'get':
      return { op, ...readFields(LOCK_FIELDS.get, source, at) }
  }
}
