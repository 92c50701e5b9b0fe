// The client's verbs about runs: starting them from definitions or by registered name, taking a handle up again by id, and
// waking workers after a transaction's commit.
import { root, text } from '../../protocol/check.ts'
import { isUuid } from '../../protocol/uuid.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { RunHandle, Startable, Starter, SubmitOptions } from '../define/submitter.ts'
import { namedRun, runOptions } from './outgoing-run.ts'
import type { RunCalls } from './run-calls.ts'
import { runHandle } from './run-handle.ts'
import { RunNotFoundError } from './run-not-found.ts'
import { starter, startRuns } from './start-runs.ts'

type InputOf<W> = W extends Startable<infer In, unknown> ? In : never
type OutputOf<W> = W extends Startable<never, infer Out> ? Out : never

/** `lockstep.workflow<typeof fulfilOrder>('fulfil_order')`: typed by `import type`, without the code. */
export interface NamedWorkflow<In, Out> {
  submit(input: In, options?: SubmitOptions): Promise<RunHandle<Out>>
}

export interface RunEntry extends Starter {
  readonly workflow: <W extends Startable<never, unknown>>(
    name: W extends { readonly name: infer Name extends string } ? Name : string,
  ) => NamedWorkflow<InputOf<W>, OutputOf<W>>
  /** The handle of a run that is known by its id. */
  readonly run: <Out = unknown>(runId: string) => RunHandle<Out>
  /** After the commit of a transaction that submitted: workers look at once instead of at their next poll. */
  readonly wake: () => Promise<void>
}

const workflowName = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })

export function runEntry(calls: RunCalls): RunEntry {
  return {
    ...starter(calls, calls.submit),
    workflow: (name) => {
      workflowName.read(name, root(), 'workflow')
      return {
        async submit(input, options) {
          const given = runOptions(options)
          const [handle] = await startRuns<never>(calls, calls.submit, [namedRun(name, input, given, null)], given)
          if (handle === undefined) throw new RunNotFoundError('', 'unknown')
          return handle
        },
      }
    },
    run: (runId) => {
      // An id that cannot be one is answered like one that is not there.
      const known = isUuid(runId)
      const show = known ? calls.show : async () => ({ missing: 'unknown' as const })
      const absent = async (): Promise<string> => 'not_found'
      return runHandle(
        known ? calls : { ...calls, show, cancel: absent, retry: absent, signal: absent },
        runId,
        false,
        null,
      )
    },
    wake: calls.wake,
  }
}
