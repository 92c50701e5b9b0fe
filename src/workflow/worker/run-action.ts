// A claimed action from its claim to its end: the attempt, then completion together with the successors that this process can
// plan, or failure. A step that opened its transaction completes in it; any other is completed in a batch with its like.
import { completeCommand, completedOf } from '../../operations/complete-in.ts'
import { completionOf } from '../../operations/completion-of.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type { ClaimedNode, Completed, NodeCompletion } from '../../protocol/run.ts'
import { runAttempt, type AttemptEnd } from '../context/attempt.ts'
import { certainlyUndone } from '../context/certainly-undone.ts'
import { failureOf } from '../context/failure-of.ts'
import type { ActionDefinition } from '../define/definition.ts'
import type { AttemptOutcome } from '../define/worker.ts'
import { isCrash } from './crash.ts'
import { untilLeaseEnds } from './ends.ts'
import type { Held } from './held-nodes.ts'
import { planSuccessors } from './plan-successors.ts'
import { takenNode } from './taken-node.ts'
import type { WorkerParts } from './worker-parts.ts'

const LOST: AttemptOutcome = { state: 'lost' }

type Returned = Extract<AttemptEnd, { readonly how: 'returned' }>
type Ended = Completed & { readonly leaseId: string }

async function completeInStep(
  parts: WorkerParts,
  held: Held,
  returned: Returned,
  node: NodeCompletion,
): Promise<Ended | null> {
  const take = { leaseId: mintId(), leaseMs: parts.settings.leaseMs }
  try {
    // Opens it now when only `ctx` was written to.
    const step = await returned.step.open()
    await parts.hooks.beforeCommit?.({
      action: held.node.want,
      runId: node.runId,
      node: held.node.name,
      door: step.door,
    })
    const done = completedOf(await returned.step.commit(completeCommand(node, take)))
    return { ...done, leaseId: take.leaseId }
  } catch (error) {
    if (certainlyUndone(error)) throw error
    // Not seen to end, or refused without a word of the server: the token's row knows.
    const fate = await untilLeaseEnds(
      () => held.leaseUntil,
      () => completionOf(parts.database, node),
    )
    if (fate === 'done') return { ok: true, ready: [], taken: [], ended: true, leaseId: take.leaseId }
    if (fate === 'lost') return null
    throw error
  }
}

const nameOf = (node: ClaimedNode): string => (node.ordinal === 0 ? node.workflow : node.name)

export async function fail(parts: WorkerParts, held: Held, error: unknown): Promise<void> {
  const { runId, ordinal, leaseId, name, want } = held.node
  const meaning = failureOf(error)
  parts.log.warn({ runId, node: name, want, error: meaning.error.slice(0, 500) }, 'an attempt failed')
  const failed = await parts.ends.fail({ runId, ordinal, leaseId, ...meaning }, () => held.leaseUntil)
  if (failed.ok && !failed.again) parts.settled(held.node, true, true)
  else if (failed.ok) parts.again(held.node)
}

/** `free` is called when the handler has returned and its end is written together with others'. */
export function runAction(
  parts: WorkerParts,
  held: Held,
  definition: ActionDefinition,
  free: () => void,
): Promise<unknown> {
  const { began, ended } = parts.hooks
  return began === undefined && ended === undefined
    ? carryOut(parts, held, definition, free)
    : carryOutSeen(parts, held, definition, free)
}

async function carryOutSeen(
  parts: WorkerParts,
  held: Held,
  definition: ActionDefinition,
  free: () => void,
): Promise<unknown> {
  const { began, ended } = parts.hooks
  const { runId, want, attempt, input } = held.node
  const event = { action: want, runId, node: nameOf(held.node), attempt, input: input ?? 'null' }
  began?.(event)
  let outcome = LOST
  try {
    outcome = await carryOut(parts, held, definition, free)
  } finally {
    ended?.(event, outcome)
  }
  return outcome
}

async function carryOut(
  parts: WorkerParts,
  held: Held,
  definition: ActionDefinition,
  free: () => void,
): Promise<AttemptOutcome> {
  const { node } = held
  const end = await runAttempt(parts.attempts, definition, {
    held,
    runId: node.runId,
    node: nameOf(node),
    attempt: node.attempt,
    occurrence: node.occurrence,
    input: node.input === null ? null : JSON.parse(node.input),
  })
  if (end.how === 'threw') {
    await fail(parts, held, end.error)
    return { state: 'failed', error: end.error }
  }
  if (end.how === 'gone') {
    if (end.why === 'abandoned') await parts.ends.handBack([node])
    return LOST
  }
  const plans = node.ordinal === 0 ? [] : await planSuccessors(parts, node, end.output)
  const apart = end.step.opened() || end.writes?.pending === true || parts.hooks.apart?.(node.want, node.name) === true
  if (apart) return completeAlone(parts, held, end, plans)
  free()
  // Nothing of the attempt but its output is kept while its end waits for its like: what thousands of them would keep is what
  // the garbage collector copies.
  return completeJoined(parts, held, end.output, plans)
}

async function completeAlone(
  parts: WorkerParts,
  held: Held,
  end: Returned,
  plans: NodeCompletion['plans'],
): Promise<AttemptOutcome> {
  const { node } = held
  let ended: Ended | null
  try {
    const { runId, ordinal, leaseId } = node
    ended = await completeInStep(parts, held, end, { runId, ordinal, leaseId, output: end.output, plans })
  } catch (error) {
    await end.step.rollback().catch(() => {})
    return notCompleted(parts, held, error)
  }
  if (ended === null) return lost(parts, node)
  for (const queue of end.writes?.queues ?? []) parts.committed(queue)
  for (const name of end.writes?.workflows ?? []) parts.runs.wake(name)
  settle(parts, node, ended)
  const { leaseId } = ended
  const taken = ended.taken.flatMap((ordinal) => takenNode(parts.registry, node, plans, ordinal, leaseId) ?? [])
  if (taken.length > 0) parts.take(taken)
  return { state: 'completed', output: end.output }
}

async function completeJoined(
  parts: WorkerParts,
  held: Held,
  output: string,
  plans: NodeCompletion['plans'],
): Promise<AttemptOutcome> {
  const { node } = held
  let ended: Completed
  try {
    const { runId, ordinal, leaseId } = node
    ended = await parts.ends.complete({ runId, ordinal, leaseId, output, plans, claimed: node }, () => held.leaseUntil)
  } catch (error) {
    return notCompleted(parts, held, error)
  }
  if (!ended.ok) return lost(parts, node)
  settle(parts, node, ended)
  return { state: 'completed', output }
}

async function notCompleted(parts: WorkerParts, held: Held, error: unknown): Promise<AttemptOutcome> {
  // A process that had died would write nothing more.
  if (isCrash(error) || (error instanceof LockstepError && error.code === 'lease_lost')) return LOST
  await fail(parts, held, error)
  return { state: 'failed', error }
}

function lost(parts: WorkerParts, node: ClaimedNode): AttemptOutcome {
  parts.log.warn(
    { runId: node.runId, node: node.name },
    'the lease was lost before the end: nothing of the step was committed',
  )
  return LOST
}

function settle(parts: WorkerParts, node: ClaimedNode, ended: Completed): void {
  // What code called makes its run go on.
  const called = node.ordinal > 0 && parts.registry.graph(node.workflow, node.version) === null
  parts.settled(node, ended.ended, called || ended.ready.length > ended.taken.length)
}
