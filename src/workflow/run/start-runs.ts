// Submits: many runs in one statement, in a commit of our own or through a transaction that is open already. A known key
// attaches to its run; another input under it is a conflict, and nothing of the call was submitted then.
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { OutgoingRun, Submitted } from '../../protocol/run.ts'
import { definitionIn } from '../define/definition.ts'
import type { RunHandle, Startable, Starter, SubmitOptions } from '../define/submitter.ts'
import { outgoingRun, runOptions, type RunOptions } from './outgoing-run.ts'
import type { RunCalls } from './run-calls.ts'
import { runHandle } from './run-handle.ts'

export type Submit = (runs: readonly OutgoingRun[]) => Promise<Submitted>

function judge(run: OutgoingRun, submitted: Submitted['runs'][number], options: RunOptions): void {
  if (submitted.created) return
  const details = { key: run.key, runId: submitted.runId, differs: submitted.differs }
  if (submitted.differs) {
    throw new LockstepError(
      'run_conflict',
      `the key '${run.key ?? ''}' of '${run.workflow}' is known with another input`,
      details,
    )
  }
  if (options.onKnownKey === 'refuse') {
    throw new LockstepError('run_conflict', `the key '${run.key ?? ''}' of '${run.workflow}' is known`, details)
  }
}

export async function startRuns<Out>(
  calls: RunCalls,
  submit: Submit,
  runs: readonly OutgoingRun[],
  options: RunOptions,
): Promise<readonly RunHandle<Out>[]> {
  if (runs.length === 0) return []
  const { runs: submitted, xid } = await submit(runs)
  return runs.map((run, at) => {
    const one = submitted[at]
    if (one === undefined) throw new LockstepError('internal', 'a submission has no answer')
    judge(run, one, options)
    return runHandle<Out>(calls, one.runId, one.created, xid)
  })
}

/** The verbs over a way to submit. */
export function starter(calls: RunCalls, submit: Submit): Starter {
  async function many<In, Out>(
    what: Startable<In, Out>,
    inputs: readonly In[],
    options?: SubmitOptions,
  ): Promise<readonly RunHandle<Out>[]> {
    if (inputs.length > LIMITS.runsPerCall) {
      throw new LockstepError(
        'bad_request',
        `at most ${LIMITS.runsPerCall} runs are submitted at once; got ${inputs.length}`,
      )
    }
    const given = runOptions(options)
    if (given.key !== null && inputs.length > 1) throw new LockstepError('bad_request', 'one key names one run')
    const definition = definitionIn(what)
    const runs: OutgoingRun[] = []
    for (const input of inputs) runs.push(await outgoingRun(definition, input, given))
    return startRuns<Out>(calls, submit, runs, given)
  }

  async function one<In, Out>(what: Startable<In, Out>, input: In, options?: SubmitOptions): Promise<RunHandle<Out>> {
    const [handle] = await many(what, [input], options)
    if (handle === undefined) throw new LockstepError('internal', 'a submission has no answer')
    return handle
  }

  return { submit: one, enqueue: one, submitMany: many, enqueueMany: many }
}
