// A claimed run of code from its claim to its end: what it has recorded is read, the code runs from its beginning over those
// records, and then it is completed, failed, or lets go of this worker until what it waits for is there.
import { dropCalls } from '../../operations/drop-calls.ts'
import { runHistory } from '../../operations/run-history.ts'
import { setProgress } from '../../operations/set-progress.ts'
import { suspend } from '../../operations/suspend.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { stepLog } from '../context/attempt-context.ts'
import { guarded } from '../context/attempt.ts'
import { codeCall, codeRun } from '../context/code-call.ts'
import type { CodeParts } from '../context/code-parts.ts'
import { codeStep } from '../context/code-step.ts'
import { codeAll, codePatch, codeSignal, codeSleep, type SignalOptions } from '../context/code-waits.ts'
import { createStepNames } from '../context/step-names.ts'
import { createWaits } from '../context/waits.ts'
import type { CodeStep, KeyOptions } from '../define/contexts.ts'
import type { CodeDefinition, Defined } from '../define/definition.ts'
import { demandFunction } from '../define/demand-parts.ts'
import { PermanentError } from '../define/failures.ts'
import { checkedInput, runText } from '../define/plan-node.ts'
import type { Duration } from '../define/policy.ts'
import { isCrash } from './crash.ts'
import { untilLeaseEnds } from './ends.ts'
import type { Held } from './held-nodes.ts'
import { fail } from './run-action.ts'
import type { WorkerParts } from './worker-parts.ts'

/**
 * A step that nobody awaits may fail, and code that has let go may leave some behind: neither may end the process with all that it
 * does for others. Whoever awaits the promise is told as ever.
 */
function kept<A extends unknown[], R>(verb: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
  return (...given) => {
    const promise = verb(...given)
    promise.catch(() => {})
    return promise
  }
}

type StepWork = (step: CodeStep<unknown>) => unknown

function contextOf(parts: CodeParts): object {
  const { worker, held, definition } = parts
  const { node } = held
  return {
    runId: node.runId,
    workflow: definition.name,
    node: node.name,
    attempt: node.failures + 1,
    idempotencyKey: `${node.runId}:${node.name}`,
    occurrence: node.occurrence,
    abortSignal: parts.abortSignal(),
    log: stepLog(worker.log, { runId: node.runId, workflow: definition.name }),
    step: kept(async (name: string, options: KeyOptions | StepWork, work?: StepWork) => {
      const doing = typeof options === 'function' ? options : work
      demandFunction(doing, `the work of step '${name}'`)
      return codeStep(parts, name, typeof options === 'function' ? {} : options, doing ?? (() => null))
    }),
    call: kept(async (name: string, action: Defined, input: unknown, options: KeyOptions = {}) =>
      codeCall(parts, name, action, input, options),
    ),
    run: kept(async (name: string, workflow: Defined, input: unknown, options: KeyOptions = {}) =>
      codeRun(parts, name, workflow, input, options),
    ),
    sleep: kept(async (name: string, duration: Duration, options: KeyOptions = {}) =>
      codeSleep(parts, name, duration, options),
    ),
    waitForSignal: kept(async (name: string, options: SignalOptions = {}) => codeSignal(parts, name, options)),
    all: kept(codeAll),
    patch: kept(async (name: string) => codePatch(parts, name)),
    progress: kept(async (value: unknown) => setProgress(worker.database, node, runText(value, 'progress'))),
  }
}

type Outcome = { readonly output: string } | { readonly suspended: true }

async function letGo(parts: CodeParts): Promise<Outcome> {
  const suspension = await parts.waits.stalled
  const { runId, leaseId } = parts.held.node
  const held = await untilLeaseEnds(
    () => parts.held.leaseUntil,
    () => suspend(parts.worker.database, runId, leaseId, suspension),
  )
  if (!held) throw new LockstepError('lease_lost', 'the lease of this run was lost')
  return { suspended: true }
}

async function toItsEnd(parts: CodeParts): Promise<Outcome> {
  const { definition, held } = parts
  let input: unknown
  try {
    input = await checkedInput(definition, held.node.input === null ? null : JSON.parse(held.node.input))
  } catch (error) {
    throw new PermanentError(error instanceof Error ? error.message : String(error), { cause: error })
  }
  let value: unknown
  try {
    // The schema gave the input the type that the code takes; the context has every verb of its type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    value = await definition.handler(contextOf(parts) as never, input as never)
  } finally {
    // What it left waiting must not let go of the run while its end is written; what it has let go of has no end yet.
    if (!parts.waits.close()) await new Promise<never>(() => {})
  }
  return { output: runText(value, 'output') }
}

function tellUnasked(parts: CodeParts): void {
  const unasked = [...parts.history.keys()].filter((name) => !parts.names.asked.has(name) && !name.startsWith('patch:'))
  if (unasked.length > 0) {
    parts.worker.log.warn(
      { runId: parts.held.node.runId, steps: unasked },
      'steps are recorded that the code no longer has',
    )
  }
}

/** `free` is called when the code has returned and its end is written together with others'. */
export async function runCode(
  worker: WorkerParts,
  held: Held,
  definition: CodeDefinition,
  free: () => void,
): Promise<void> {
  const { node } = held
  const recorded = node.fresh
    ? []
    : await untilLeaseEnds(
        () => held.leaseUntil,
        () => runHistory(worker.database.reader, node.runId),
      )
  const controller = new AbortController()
  const parts: CodeParts = {
    worker,
    held,
    definition,
    history: new Map(recorded.map((step) => [step.name, step])),
    names: createStepNames(),
    waits: createWaits(),
    patches: new Map(),
    abortSignal: () => controller.signal,
  }
  const ended = await guarded(
    held,
    definition.policy.timeoutMs,
    (why) => controller.abort(why),
    async () => Promise.race([toItsEnd(parts), letGo(parts)]),
  )
  if ('gone' in ended) {
    if (ended.gone === 'abandoned') await worker.ends.handBack([node])
    return undefined
  }
  if ('error' in ended) {
    const { error } = ended
    if (isCrash(error) || (error instanceof LockstepError && error.code === 'lease_lost')) return undefined
    return fail(worker, held, error)
  }
  if ('suspended' in ended.value) {
    worker.again(node)
    return undefined
  }
  tellUnasked(parts)
  if (parts.waits.working() > 0) {
    const details = { runId: node.runId, steps: parts.waits.working() }
    worker.log.warn(details, 'the code returned while steps of it were at work: await them')
  }
  const { runId, ordinal, leaseId } = node
  free()
  const end = { runId, ordinal, leaseId, output: ended.value.output, plans: [], claimed: node }
  const until = (): number => held.leaseUntil
  let done = await worker.ends.complete(end, until)
  if (!done.ok) {
    // The claim is lost, or calls of the run are open still.
    const calls = await untilLeaseEnds(until, () => dropCalls(worker.database, runId, leaseId))
    if (calls === null || calls === 0) return undefined
    worker.log.warn({ runId, calls }, 'the code returned while calls of it were open: they are cancelled')
    done = await worker.ends.complete(end, until)
  }
  if (done.ok) worker.settled(node, true, false)
  return undefined
}
