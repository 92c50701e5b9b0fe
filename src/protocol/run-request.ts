// Decodes what is asked about runs over HTTP: submissions, and the verbs of workers in other languages. Inputs, outputs and
// payloads are cut out of the body and stay the bytes they were; everything else is read through declared fields.
import { boolean, integer, list, oneOf, optional, readFields, refuse, text } from './check.ts'
import type { Place } from './check.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import type { Piece } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { mintId } from './mint-id.ts'
import { errorText, leaseIdText, requestIdText } from './names.ts'
import { arrayOf, bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import type { NodeFailure, NodeLease, OutgoingRun } from './run.ts'
import { utf8Length } from './utf8.ts'
import { isUuid } from './uuid.ts'

const nameText = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })
/** Of an action or a workflow: what begins so is the engine's own work. */
const definedText = text({
  min: 1,
  max: LIMITS.nameBytes,
  longCode: 'name_too_long',
  rule: (name) => (/^(?:plan|flow):/.test(name) ? "a name that does not begin with 'plan:' or 'flow:'" : null),
})
const milliseconds = integer(0, LIMITS.runDelayMs)
const uuidText = text({ min: 36, max: 36, rule: (id) => (isUuid(id) ? null : 'a UUID') })

export const RUN_FIELDS = {
  workflow: definedText,
  key: optional(text({ min: 1, max: LIMITS.runKeyBytes, longCode: 'name_too_long' }), null),
  kind: optional(oneOf('action', 'code', 'graph'), null),
  version: optional(text({ max: LIMITS.nameBytes }), null),
  priority: optional(integer(-LIMITS.runPriority, LIMITS.runPriority), null),
  delayMs: optional(milliseconds, null),
  deadlineMs: optional(milliseconds, null),
  tags: optional(list(LIMITS.runTags, text({ min: 1, max: LIMITS.nameBytes })), null),
  maxAttempts: optional(integer(1, LIMITS.runAttempts), null),
  backoffMs: optional(milliseconds, null),
  backoffMaxMs: optional(milliseconds, null),
  limitKey: optional(text({ max: LIMITS.runKeyBytes }), null),
  limitMax: optional(integer(1, 1_000_000), null),
  limitIntervalMs: optional(integer(1, LIMITS.runDelayMs), null),
  runId: optional(uuidText, null),
} as const

export const RUNS_BODY = { requestId: optional(requestIdText, null) } as const

export interface SubmitRequest {
  readonly requestId: string | null
  readonly runs: readonly OutgoingRun[]
  /** The body was one run, not a list. */
  readonly single: boolean
}

const SHAPE = inObject({ input: CUT, runs: inArray(inObject({ input: CUT })) })

function valueOf(
  pieces: readonly Piece[],
  source: Readonly<Record<string, unknown>>,
  name: string,
  place: Place,
): string | null {
  const piece = pieceOf(pieces, source, name)
  if (piece === null) return null
  if (piece.fault !== null) refuse(place, name, piece.fault)
  if (piece.text.length * 3 > LIMITS.runValueBytes && utf8Length(piece.text) > LIMITS.runValueBytes) {
    refuse(place, name, `at most ${LIMITS.runValueBytes} bytes`, 'payload_too_large')
  }
  return piece.text
}

export function runOf(source: Readonly<Record<string, unknown>>, pieces: readonly Piece[], place: Place): OutgoingRun {
  const fields = readFields(RUN_FIELDS, source, place)
  const input = valueOf(pieces, source, 'input', place) ?? 'null'
  return { ...fields, runId: fields.runId?.toLowerCase() ?? mintId(), input, shape: null, plans: [] }
}

export function decodeSubmit(body: RequestBody): SubmitRequest {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, SHAPE)
  const request = recordOf(envelope, place)
  const { requestId } = readFields(RUNS_BODY, request, place)
  if (!Object.hasOwn(request, 'runs')) return { requestId, runs: [runOf(request, pieces, place)], single: true }
  const at: Place = { parent: { parent: place, step: 'runs' }, step: 0 }
  const runs = arrayOf(request, 'runs', place, LIMITS.runsPerCall).map((element, index) => {
    at.step = index
    return runOf(recordOf(element, at), pieces, at)
  })
  return { requestId, runs, single: false }
}

export const CANCEL_BODY = { reason: optional(errorText, null) } as const
export const SIGNAL_BODY = { name: nameText } as const

export function decodeSignal(body: RequestBody): { readonly name: string; readonly payload: string } {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, inObject({ payload: CUT }))
  const request = recordOf(envelope, place)
  return {
    name: readFields(SIGNAL_BODY, request, place).name,
    payload: valueOf(pieces, request, 'payload', place) ?? 'null',
  }
}

export const CLAIM_BODY = {
  actions: list(1_000, definedText),
  max: optional(integer(1, 1_000), 1),
  leaseMs: optional(integer(100, LIMITS.leaseSeconds * 1_000), 30_000),
  waitMs: optional(integer(0, LIMITS.runWaitMs), 0),
} as const

export const TASK = { runId: uuidText, ordinal: integer(0, 2_147_483_647), leaseId: leaseIdText } as const
export const HEARTBEAT_BODY = { leaseMs: optional(integer(100, LIMITS.leaseSeconds * 1_000), 30_000) } as const

export interface TasksRequest<T> {
  readonly tasks: readonly T[]
}

function tasksOf<T>(
  body: RequestBody,
  cut: string | null,
  read: (source: Readonly<Record<string, unknown>>, lease: NodeLease, pieces: readonly Piece[], place: Place) => T,
): TasksRequest<T> & { readonly request: Readonly<Record<string, unknown>> } {
  const place = bodyPlace()
  const member = cut === null ? {} : { [cut]: CUT }
  const { envelope, pieces } = sliced(body, inObject({ ...member, tasks: inArray(inObject(member)) }))
  const request = recordOf(envelope, place)
  const one = (source: Readonly<Record<string, unknown>>, at: Place): T =>
    read(source, readFields(TASK, source, at), pieces, at)
  if (!Object.hasOwn(request, 'tasks')) return { request, tasks: [one(request, place)] }
  const at: Place = { parent: { parent: place, step: 'tasks' }, step: 0 }
  const tasks = arrayOf(request, 'tasks', place, LIMITS.runsPerCall).map((element, index) => {
    at.step = index
    return one(recordOf(element, at), at)
  })
  return { request, tasks }
}

export function decodeHeartbeat(body: RequestBody): TasksRequest<NodeLease> & { readonly leaseMs: number } {
  const { request, tasks } = tasksOf(body, null, (_source, lease) => lease)
  return { tasks, ...readFields(HEARTBEAT_BODY, request, bodyPlace()) }
}

export function decodeTaskEnds(body: RequestBody): TasksRequest<NodeLease & { readonly output: string }> {
  return tasksOf(body, 'output', (source, lease, pieces, place) => ({
    ...lease,
    output: valueOf(pieces, source, 'output', place) ?? 'null',
  }))
}

export const TASK_ERROR = {
  error: optional(errorText, 'failed'),
  code: optional(text({ min: 1, max: LIMITS.nameBytes }), 'failed'),
  retry: optional(boolean, true),
  retryAfterMs: optional(milliseconds, null),
} as const

export function decodeTaskFailures(body: RequestBody): TasksRequest<NodeFailure> {
  return tasksOf(body, null, (source, lease, _pieces, place) => {
    const { error, code, retry, retryAfterMs } = readFields(TASK_ERROR, source, place)
    return { ...lease, error: JSON.stringify({ code, message: error }), retry, retryAfterMs }
  })
}
