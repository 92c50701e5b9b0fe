// One attempt of an action: its input checked, its handler run with a context of its own, its output written as JSON. It ends
// nothing in the database: whoever asked for it completes, fails or leaves the claim.
import type { KvAnswer, KvOperation } from '../../protocol/kv.ts'
import type { Logger } from '../../client/logger.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { ActionDefinition } from '../define/definition.ts'
import { PermanentError } from '../define/failures.ts'
import { checkedInputSoon, runText } from '../define/plan-node.ts'
import type { RunCalls } from '../run/run-calls.ts'
import { forget, onGone, type Gone, type Held } from '../worker/held-nodes.ts'
import { attemptContext } from './attempt-context.ts'
import { createLazyStep, type LazyStep, type LazyStepPorts } from './lazy-step.ts'
import { createStepWrites, type StepWrites } from './step-writes.ts'

export interface AttemptPorts extends LazyStepPorts {
  readonly calls: RunCalls
  readonly readKv: (operations: readonly KvOperation[]) => Promise<KvAnswer>
  readonly progress: (held: Held, text: string) => Promise<void>
  readonly log: Logger
}

export interface AttemptOf {
  readonly held: Held
  readonly runId: string
  readonly node: string
  readonly attempt: number
  readonly occurrence: string | null
  /** Parsed JSON, not yet checked. */
  readonly input: unknown
}

export type AttemptEnd =
  | { readonly how: 'returned'; readonly output: string; readonly step: LazyStep; readonly writes: StepWrites | null }
  | { readonly how: 'threw'; readonly error: unknown }
  | { readonly how: 'gone'; readonly why: Gone }

/** Runs the work until it ends, the claim is gone, or the time is over; what outlives that is left to itself. */
export function guarded<T>(
  held: Held,
  timeoutMs: number | null,
  abort: (why: unknown) => void,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly error: unknown } | { readonly gone: Gone }> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | null = null
    const left = (why: Gone): void => {
      if (timer !== null) clearTimeout(timer)
      abort(
        new LockstepError('lease_lost', why === 'lost' ? 'the lease of this step was lost' : 'the worker is stopping'),
      )
      resolve({ gone: why })
    }
    const end = (outcome: { readonly value: T } | { readonly error: unknown }): void => {
      if (timer !== null) clearTimeout(timer)
      forget(held, left)
      resolve(outcome)
    }
    onGone(held, left)
    if (timeoutMs !== null) {
      timer = setTimeout(() => {
        const late = new LockstepError('timeout', `the attempt took longer than ${timeoutMs} ms`)
        abort(late)
        end({ error: late })
      }, timeoutMs)
    }
    work().then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    )
  })
}

export async function runAttempt(
  ports: AttemptPorts,
  definition: ActionDefinition,
  of: AttemptOf,
): Promise<AttemptEnd> {
  const { held } = of
  let controller: AbortController | null = null
  let aborted: { readonly why: unknown } | null = null
  let writes: StepWrites | null = null
  const written = (): StepWrites => (writes ??= createStepWrites(ports))
  // Made with the transaction at the latest: what is said through `ctx` after it was opened must go through it.
  const step = createLazyStep(ports, definition.completion, written)

  const signal = (): AbortSignal => {
    if (controller === null) {
      controller = new AbortController()
      if (aborted !== null) controller.abort(aborted.why)
    }
    return controller.signal
  }
  const context = attemptContext(ports, of, step, written, signal)

  const abort = (why: unknown): void => {
    aborted = { why }
    controller?.abort(why)
  }
  const outcome = await guarded(held, definition.policy.timeoutMs, abort, async () => {
    let input: unknown
    try {
      const checked = checkedInputSoon(definition, of.input)
      input = checked instanceof Promise ? await checked : checked
    } catch (error) {
      throw new PermanentError(error instanceof Error ? error.message : String(error), { cause: error })
    }
    // The schema gave the input the type that the handler takes; a context of a library's transaction is that library's.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const value = await definition.handler(context as never, input as never)
    return runText(value, 'output')
  })
  if ('value' in outcome) return { how: 'returned', output: outcome.value, step, writes }
  await step.rollback().catch(() => {})
  return 'gone' in outcome ? { how: 'gone', why: outcome.gone } : { how: 'threw', error: outcome.error }
}
