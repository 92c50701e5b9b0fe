// `ctx.call` and `ctx.run`: an action, here at once when this worker knows it and nothing limits it, else as a node of the run
// that any worker may take; another workflow as a run of its own. What they brought is recorded, a final failure too.
import { isCrash } from '../worker/crash.ts'
import { createHash } from 'node:crypto'
import { recordCommand } from '../../operations/record-step.ts'
import { callNode } from '../../operations/call-node.ts'
import { runNodes } from '../../operations/run-nodes.ts'
import { startChild } from '../../operations/start-child.ts'
import { stepOf } from '../../operations/step-of.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { definitionIn, type ActionDefinition, type Defined } from '../define/definition.ts'
import type { KeyOptions } from '../define/contexts.ts'
import { checkedInput, runText } from '../define/plan-node.ts'
import { graphOutputs } from '../run/graph-outputs.ts'
import { limitColumns, outgoingRun, runOptions } from '../run/outgoing-run.ts'
import { untilLeaseEnds } from '../worker/ends.ts'
import { certainlyUndone } from './certainly-undone.ts'
import { runAttempt, type AttemptEnd } from './attempt.ts'
import { demandKind, leaseLost, parsedOutput, stepFailed, type CodeParts } from './code-parts.ts'
import { failureOf } from './failure-of.ts'

async function asNode(
  parts: CodeParts,
  name: string,
  action: ActionDefinition,
  input: unknown,
  spent: number,
  delayMs: number,
): Promise<number> {
  const { worker, held } = parts
  const { policy } = action
  const checked = await checkedInput(action, input)
  const ordinal = await callNode(worker.database, held.node.runId, held.node.leaseId, {
    name,
    action: action.name,
    input: runText(input, 'input'),
    priority: policy.priority === 0 ? null : policy.priority,
    maxAttempts: Math.max(1, policy.maxAttempts - spent),
    backoffMs: policy.backoffMs,
    backoffMaxMs: policy.backoffMaxMs,
    ...limitColumns(policy.limit, checked),
    delayMs,
  })
  if (ordinal === null) throw leaseLost()
  worker.runs.wake(action.name)
  return ordinal
}

async function recordInline(
  parts: CodeParts,
  name: string,
  action: string,
  end: Extract<AttemptEnd, { readonly how: 'returned' }>,
): Promise<void> {
  const { worker, held } = parts
  const { runId, leaseId } = held.node
  const record = { runId, leaseId, name, state: 'returned' as const, output: end.output }
  const apart = worker.hooks.apart?.(action, name) === true
  if (!end.step.opened() && end.writes?.pending !== true && !apart) {
    if (!(await worker.ends.record(record, () => held.leaseUntil))) throw leaseLost()
    return
  }
  try {
    const step = await end.step.open()
    await worker.hooks.beforeCommit?.({ action, runId, node: name, door: step.door })
    await end.step.commit(recordCommand(record))
  } catch (error) {
    await end.step.rollback().catch(() => {})
    if (certainlyUndone(error)) throw error
    const fate = await untilLeaseEnds(
      () => held.leaseUntil,
      () => stepOf(worker.database, runId, leaseId, name),
    )
    if (fate === 'lost') throw leaseLost()
    if (fate === 'held') throw error
  }
  for (const queue of end.writes?.queues ?? []) worker.committed(queue)
  for (const workflow of end.writes?.workflows ?? []) worker.runs.wake(workflow)
}

/** The output, or the node that goes on with the attempts that are left. */
async function inline(
  parts: CodeParts,
  name: string,
  action: ActionDefinition,
  input: unknown,
): Promise<{ readonly output: unknown } | { readonly ordinal: number }> {
  const { worker, held } = parts
  const { runId, leaseId } = held.node
  const event = { action: action.name, runId, node: name, attempt: 1, input: runText(input, 'input') }
  worker.hooks.began?.(event)
  const end = await runAttempt(worker.attempts, action, {
    held,
    runId,
    node: name,
    attempt: 1,
    occurrence: held.node.occurrence,
    input: JSON.parse(event.input),
  })
  const lost = (): void => worker.hooks.ended?.(event, { state: 'lost' })
  if (end.how === 'gone') {
    lost()
    throw leaseLost()
  }
  let failure: unknown
  if (end.how === 'returned') {
    try {
      await recordInline(parts, name, action.name, end)
      worker.hooks.ended?.(event, { state: 'completed', output: end.output })
      return { output: JSON.parse(end.output) }
    } catch (error) {
      if (isCrash(error) || (error instanceof LockstepError && error.code === 'lease_lost')) {
        lost()
        throw error
      }
      failure = error
    }
  } else failure = end.error
  worker.hooks.ended?.(event, { state: 'failed', error: failure })
  const meaning = failureOf(failure)
  worker.log.warn({ runId, node: name, error: meaning.error.slice(0, 500) }, 'an attempt failed')
  if (meaning.retry && action.policy.maxAttempts > 1) {
    return { ordinal: await asNode(parts, name, action, input, 1, meaning.retryAfterMs ?? action.policy.backoffMs) }
  }
  if (
    !(await worker.ends.record({ runId, leaseId, name, output: meaning.error, state: 'failed' }, () => held.leaseUntil))
  )
    throw leaseLost()
  throw stepFailed(name, meaning.error)
}

export async function codeCall(
  parts: CodeParts,
  given: string,
  what: Defined,
  input: unknown,
  options: KeyOptions,
): Promise<unknown> {
  const action = definitionIn(what)
  if (action.kind !== 'action')
    throw new LockstepError('bad_request', `ctx.call takes an action; '${action.name}' is a workflow: use ctx.run`)
  const { recorded: name, end } = parts.names.enter(given, options.key)
  try {
    const recorded = parts.history.get(name)
    if (recorded !== undefined && recorded.ordinal === null) {
      demandKind(name, recorded, ['returned', 'failed'], 'a call')
      if (recorded.state === 'failed') throw stepFailed(name, recorded.output)
      return parsedOutput(recorded.output)
    }
    if (recorded?.state === 'done') return parsedOutput(recorded.output)
    if (recorded?.state === 'failed' || recorded?.state === 'cancelled') throw stepFailed(name, recorded.error)
    if (recorded?.ordinal != null) return await parts.waits.until({ kind: 'call', ordinal: recorded.ordinal })
    const begun = await parts.waits.during(async () => {
      const here = parts.worker.registry.serves(action) && action.policy.limit === null
      return here ? inline(parts, name, action, input) : { ordinal: await asNode(parts, name, action, input, 0, 0) }
    })
    return 'output' in begun ? begun.output : await parts.waits.until({ kind: 'call', ordinal: begun.ordinal })
  } finally {
    end()
  }
}

/** Made from the parent's id and the step's name, so that a repeat finds the same run; it begins with the parent's time. */
function childId(runId: string, name: string): string {
  const hex = createHash('sha256').update(`${runId}:${name}`).digest('hex')
  return `${runId.slice(0, 13)}-8${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`
}

export async function codeRun(
  parts: CodeParts,
  given: string,
  what: Defined,
  input: unknown,
  options: KeyOptions,
): Promise<unknown> {
  const { worker, held } = parts
  const definition = definitionIn(what)
  const { recorded: name, end } = parts.names.enter(given, options.key)
  try {
    const recorded = parts.history.get(name)
    if (recorded !== undefined) demandKind(name, recorded, ['called'], 'a run of another workflow')
    const id = childId(held.node.runId, name)
    const child = await parts.waits.during(async () => {
      const run = await outgoingRun(definition, input, runOptions())
      const started = await startChild(worker.database, held.node.runId, held.node.leaseId, name, {
        ...run,
        runId: id,
      })
      if (started.state === 'pending') worker.runs.wake(definition.name)
      const isGraph = started.state === 'done' && started.output === null && definition.kind === 'graph'
      return { ...started, nodes: isGraph ? await runNodes(worker.database.reader, id) : null }
    })
    if (child.state === 'pending') return await parts.waits.until({ kind: 'child', runId: id })
    if (child.state !== 'done') throw stepFailed(name, child.error)
    return child.nodes === null ? parsedOutput(child.output) : graphOutputs(child.nodes)
  } finally {
    end()
  }
}
