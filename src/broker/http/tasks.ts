// For workers in any language: claim nodes by the names of their actions, keep them alive, and end them. Each is fenced by its
// own lease; what a lapsed one reports changes nothing and is told so.
import { claim } from '../../operations/claim.ts'
import { completeNodes } from '../../operations/complete-nodes.ts'
import { failNodes } from '../../operations/fail-nodes.ts'
import { heartbeat } from '../../operations/heartbeat.ts'
import { readFields } from '../../protocol/check.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { bodyPlace, recordOf, sliced } from '../../protocol/request-body.ts'
import { encodeClaims } from '../../protocol/run-answers.ts'
import {
  CLAIM_BODY,
  decodeHeartbeat,
  decodeTaskEnds,
  decodeTaskFailures,
  HEARTBEAT_BODY,
  TASK,
  TASK_ERROR,
} from '../../protocol/run-request.ts'
import { CARRIED_OPTIONAL } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { writing } from './read-call.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

/** Between looks of a claim that waits, when nothing was heard. */
const PAUSE_MS = 250

/** Until something is heard, at most so long. */
function pause(call: Call, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      unhook()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    const unhook = call.parts.runs.onWork(end)
    signal.addEventListener('abort', end)
  })
}

async function claimTasks(call: Call): Promise<Answer | null> {
  const place = bodyPlace()
  const request = readFields(CLAIM_BODY, recordOf(sliced(bodyText(call.body), {}).envelope, place), place)
  const gone = new AbortController()
  call.response.once('close', () => gone.abort())
  const end = performance.now() + request.waitMs
  for (;;) {
    const wanted = {
      wants: request.actions,
      leaseId: mintId(),
      leaseMs: request.leaseMs,
      max: request.max,
      floor: null,
    }
    const { nodes } = await writing(call, (db) => claim(db, wanted))
    const handBack = (): void => call.parts.runs.handBack(nodes)
    if (gone.signal.aborted) {
      handBack()
      return null
    }
    const left = end - performance.now()
    if (nodes.length > 0) return { ...json(encodeClaims(nodes)), undelivered: handBack }
    if (left <= 0) return json('{"tasks":[]}')
    await pause(call, Math.min(left, PAUSE_MS), gone.signal)
  }
}

async function beat(call: Call): Promise<Answer> {
  const { tasks, leaseMs } = decodeHeartbeat(bodyText(call.body))
  const held = await writing(call, (db) => heartbeat(db, tasks, leaseMs))
  return json(JSON.stringify({ results: held.map((holds) => ({ held: holds })) }))
}

async function complete(call: Call): Promise<Answer> {
  const { tasks } = decodeTaskEnds(bodyText(call.body))
  const nodes = tasks.map((task) => ({ ...task, plans: [] }))
  const done = await writing(call, (db) => completeNodes(db, nodes, { leaseId: '', leaseMs: 0 }))
  call.parts.runs.watch.ring(tasks.map((task) => task.runId))
  if (done.some((one) => one.ready.length > 0 || !one.ended)) call.parts.runs.wake(null)
  return json(
    JSON.stringify({
      results: done.map(({ ok }) => (ok ? { success: true } : { success: false, reason: 'lease_lost' })),
    }),
  )
}

async function fail(call: Call): Promise<Answer> {
  const { tasks } = decodeTaskFailures(bodyText(call.body))
  const failed = await writing(call, (db) => failNodes(db, tasks))
  call.parts.runs.watch.ring(tasks.map((task) => task.runId))
  call.parts.runs.wake(null)
  const results = failed.map(({ ok, again }) =>
    ok ? { success: true, retry: again } : { success: false, reason: 'lease_lost' },
  )
  return json(JSON.stringify({ results }))
}

function verb(
  name: string,
  about: string,
  body: NonNullable<Route['body']>,
  answer: string,
  handle: Route['handle'],
): Route {
  const row = {
    method: 'POST' as const,
    path: `/api/v1/tasks/${name}`,
    access: 'read-write' as const,
    rank: 'A' as const,
  }
  return { ...row, changes: true, about, body, answers: { 200: answer }, handle }
}

const LEASE = '"runId":"…","ordinal":0,"leaseId":"…"'

export const taskRoutes: readonly Route[] = [
  verb(
    'claim',
    'Leases due nodes of the named actions; waits for one up to `waitMs`.',
    CLAIM_BODY,
    `{"tasks":[{${LEASE},"action":"…","node":"…","attempt":1,"maxAttempts":5,"workflow":"…","idempotencyKey":"…","occurrence":null,"input":…}]}`,
    claimTasks,
  ),
  verb(
    'heartbeat',
    'Keeps claimed nodes: one, or {"tasks":[…]}.',
    [{ at: '', fields: { ...TASK, ...HEARTBEAT_BODY } }],
    '{"results":[{"held":true}]}',
    beat,
  ),
  verb(
    'complete',
    'Ends claimed nodes with their outputs: one, or {"tasks":[…]}.',
    [{ at: '', fields: { ...TASK, output: CARRIED_OPTIONAL } }],
    '{"results":[{"success":true}]}',
    complete,
  ),
  verb(
    'fail',
    'Reports failures of claimed nodes: one, or {"tasks":[…]}.',
    [{ at: '', fields: { ...TASK, ...TASK_ERROR } }],
    '{"results":[{"success":true,"retry":true}]}',
    fail,
  ),
]
