// Runs over HTTP: submission by registered name, what became of one, waiting for its end, and the verbs on it. A graph that is
// submitted here is planned by a worker that has its code.
import { encodeNodes, encodeRun, encodeSubmitted } from '../../protocol/run-answers.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { boolean, integerText, optional, readFields, root } from '../../protocol/check.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import {
  CANCEL_BODY,
  decodeSignal,
  decodeSubmit,
  RUN_FIELDS,
  RUNS_BODY,
  SIGNAL_BODY,
} from '../../protocol/run-request.ts'
import type { ShownRun } from '../../protocol/run.ts'
import { isUuid } from '../../protocol/uuid.ts'
import { submit as submitRuns } from '../../operations/submit.ts'
import { CARRIED_OPTIONAL } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { actingOf } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { once, requestIdOf } from './request-once.ts'
import { runList } from './run-list.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function submit(call: Call): Promise<Answer> {
  const { requestId: ofBody, runs, single } = decodeSubmit(bodyText(call.body))
  const requestId = requestIdOf(call, ofBody)
  const told = (submitted: Awaited<ReturnType<typeof submitRuns>>): string => {
    const texts = submitted.map(encodeSubmitted)
    return single ? (texts[0] ?? '{}') : `{"runs":[${texts.join(',')}]}`
  }
  if (requestId === null) return json(told(await call.parts.runs.submit(runs)), 201)
  const text = await once(call, requestId, async (db) => ({ answer: told(await submitRuns(db, runs)), commit: true }))
  for (const name of new Set(runs.map((run) => run.workflow))) call.parts.runs.wake(name)
  return json(text, 201)
}

/** A fault with 404 and the reason when there is none. */
function runIdOf(call: Call): string {
  const runId = (call.params['id'] ?? '').toLowerCase()
  if (!isUuid(runId)) throw new LockstepError('run_not_found', 'there is no such run', { runId, reason: 'unknown' })
  return runId
}

async function shown(call: Call, runId: string): Promise<ShownRun> {
  const xid = readQuery(call.queryText)['xid'] ?? null
  const run = await call.parts.runs.show(runId, xid !== null && /^\d{1,20}$/.test(xid) ? xid : null)
  if (!('missing' in run)) return run
  throw new LockstepError('run_not_found', `there is no run ${runId}: ${run.missing}`, { runId, reason: run.missing })
}

async function show(call: Call): Promise<Answer> {
  const runId = runIdOf(call)
  return json(encodeRun(runId, await shown(call, runId)))
}

async function nodes(call: Call): Promise<Answer> {
  const runId = runIdOf(call)
  await shown(call, runId)
  return json(encodeNodes(await call.parts.runs.nodes(runId)))
}

const RESULT_QUERY = {
  wait: optional(boolean, false),
  timeout: optional(integerText(1, LIMITS.runWaitMs), LIMITS.runWaitMs / 2),
} as const

async function result(call: Call): Promise<Answer | null> {
  const runId = runIdOf(call)
  const query = readQuery(call.queryText)
  const { timeout } = readFields({ timeout: RESULT_QUERY.timeout }, query, root('query '))
  let run = await shown(call, runId)
  if (run.finishedAt === null && query['wait'] === 'true') {
    const gone = new AbortController()
    call.response.once('close', () => gone.abort())
    await call.parts.runs.ended(runId, timeout, gone.signal)
    if (gone.signal.aborted) return null
    run = await shown(call, runId)
  }
  return json(encodeRun(runId, run), run.finishedAt === null ? 202 : 200)
}

function stateAnswer(runId: string, state: string): Answer {
  if (state === 'not_found')
    throw new LockstepError('run_not_found', `there is no run ${runId}`, { runId, reason: 'unknown' })
  return json(JSON.stringify({ runId, state: state === 'done' ? 'completed' : state }))
}

async function cancel(call: Call): Promise<Answer> {
  const runId = runIdOf(call)
  const source = call.body.length === 0 ? {} : recordOf(sliced(bodyText(call.body), {}).envelope, root())
  return stateAnswer(
    runId,
    await call.parts.runs.cancel(runId, readFields(CANCEL_BODY, source, root()).reason, actingOf(call)),
  )
}

async function retry(call: Call): Promise<Answer> {
  const runId = runIdOf(call)
  return stateAnswer(runId, await call.parts.runs.retry(runId))
}

async function signal(call: Call): Promise<Answer> {
  const runId = runIdOf(call)
  const { name, payload } = decodeSignal(bodyText(call.body))
  const state = await call.parts.runs.signal(runId, name, payload)
  if (state === 'ok') return json(JSON.stringify({ runId, taken: true }))
  const { body } = stateAnswer(runId, state)
  return json(`{"taken":false,${(body ?? '{}').slice(1)}`)
}

const RUN =
  '{"runId":"…","state":"pending|running|sleeping|compensating|completed|failed|cancelled","kind":"job|graph|flow","workflow":"…","version":"…","output":…,"error":{"code":"…","message":"…"},"attempt":1,"progress":null,"priority":0,"tags":[],"key":null,"createdAt":"…","finishedAt":null,"occurrence":null}'
const MISSING = '{"code":"run_not_found","error":"…","reason":"uncommitted|rolled_back|unknown"}'

function verb(name: 'cancel' | 'retry' | 'signal', about: string, body: Route['body'], handle: Route['handle']): Route {
  const answers = { 200: name === 'signal' ? '{"runId":"…","taken":true}' : '{"runId":"…","state":"…"}', 404: MISSING }
  const row = {
    method: 'POST' as const,
    path: `/api/v1/runs/:id/${name}`,
    access: 'read-write' as const,
    rank: 'A' as const,
  }
  return { ...row, changes: true, about, ...(body === undefined ? {} : { body }), answers, handle }
}

export const runRoutes: readonly Route[] = [
  runList,
  {
    method: 'POST',
    path: '/api/v1/runs',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Submits a run of a registered workflow or action, or up to ${LIMITS.runsPerCall} of them as {"runs":[…]}, in one commit. With "kind":"action" the action need not be registered.`,
    body: [{ at: '', fields: { ...RUN_FIELDS, input: CARRIED_OPTIONAL, ...RUNS_BODY } }],
    answers: { 201: '{"runId":"…","created":true,"conflict":false}', 404: 'Nobody has registered the workflow.' },
    handle: submit,
  },
  {
    method: 'GET',
    path: '/api/v1/runs/:id',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'What became of a run. With `xid`, the transaction that submitted it, a missing run says why it is missing.',
    answers: { 200: RUN, 404: MISSING },
    handle: show,
  },
  {
    method: 'GET',
    path: '/api/v1/runs/:id/nodes',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'The nodes of a run with what they brought.',
    answers: { 200: '{"nodes":[{"ordinal":1,"name":"…","kind":"node","state":"done","output":…}]}', 404: MISSING },
    handle: nodes,
  },
  {
    method: 'GET',
    path: '/api/v1/runs/:id/result',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: `The run; with \`wait=true\` once it has ended, or after \`timeout\` milliseconds (at most ${LIMITS.runWaitMs}).`,
    query: RESULT_QUERY,
    answers: { 200: RUN, 202: 'It has not ended yet.', 404: MISSING },
    handle: result,
  },
  verb('cancel', 'Cancels a run and the runs that it started.', CANCEL_BODY, cancel),
  verb('retry', 'Starts a failed or cancelled run again where it stopped.', undefined, retry),
  verb('signal', 'Sends a signal; it is kept until a step takes it.', SIGNAL_BODY, signal),
]
