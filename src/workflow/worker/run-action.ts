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

async function complete(
  parts: WorkerParts,
  held: Held,
  returned: Returned,
  plans: NodeCompletion['plans'],
  free: () => void,
): Promise<Completed | null> {
  const { node } = held
  const completion: NodeCompletion = {
    runId: node.runId,
    ordinal: node.ordinal,
    leaseId: node.leaseId,
    output: returned.output,
    plans,
  }
  const apart = parts.hooks.apart?.(node.want, node.name) === true
  if (returned.step.opened || returned.writes?.pending === true || apart) {
    const done = await completeInStep(parts, held, returned, completion)
    if (done === null) return null
    const taken = done.taken.flatMap((ordinal) => takenNode(parts.registry, node, plans, ordinal, done.leaseId) ?? [])
    if (taken.length > 0) parts.take(taken)
    for (const queue of returned.writes?.queues ?? []) parts.committed(queue)
    for (const name of returned.writes?.workflows ?? []) parts.runs.wake(name)
    return done
  }
  free()
  const done = await parts.ends.complete({ ...completion, claimed: node }, () => held.leaseUntil)
  return done.ok ? done : null
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
export async function runAction(
  parts: WorkerParts,
  held: Held,
  definition: ActionDefinition,
  free: () => void,
): Promise<void> {
  const { runId, want, attempt, input } = held.node
  const event = { action: want, runId, node: nameOf(held.node), attempt, input: input ?? 'null' }
  parts.hooks.began?.(event)
  let outcome = LOST
  try {
    outcome = await carryOut(parts, held, definition, free)
  } finally {
    parts.hooks.ended?.(event, outcome)
  }
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
  let ended: Completed | null
  let plans: NodeCompletion['plans']
  try {
    plans = await planSuccessors(parts, node, end.output)
    ended = await complete(parts, held, end, plans, free)
  } catch (error) {
    await end.step.rollback().catch(() => {})
    // A process that had died would write nothing more.
    if (isCrash(error) || (error instanceof LockstepError && error.code === 'lease_lost')) return LOST
    await fail(parts, held, error)
    return { state: 'failed', error }
  }
  if (ended === null) {
    parts.log.warn(
      { runId: node.runId, node: node.name },
      'the lease was lost before the end: nothing of the step was committed',
    )
    return LOST
  }
  // What code called makes its run go on.
  const called = node.ordinal > 0 && parts.registry.graph(node.workflow, node.version) === null
  parts.settled(node, ended.ended, called || ended.ready.length > ended.taken.length)
  return { state: 'completed', output: end.output }
}
