// What the attempts of actions were given and how they ended, for tests to look at and to wait for. It watches the worker from
// outside: handlers run unchanged, and an attempt counts as completed only after its commit.
import type { Untyped } from '../client/untyped.ts'
import type { AttemptEvent, AttemptOutcome } from '../workflow/define/worker.ts'

export interface SpiedCall<In = Untyped, Out = Untyped> {
  readonly runId: string
  readonly node: string
  /** From 1; counts attempts that crashed too. */
  readonly attempt: number
  readonly input: In
  /** lost: nothing of it was committed and no failure was written, as when a process dies. */
  readonly outcome: 'running' | 'completed' | 'failed' | 'lost'
  /** Of a completed one. */
  readonly output: Out | undefined
  /** What the handler of a failed one threw. */
  readonly error: unknown
}

export interface SpyOptions {
  /** Throw when it has not come to that by then; default 10,000. */
  readonly timeoutMs?: number | undefined
}

export interface Spy<In = Untyped, Out = Untyped> {
  /** All attempts so far, in the order in which they began. */
  readonly calls: readonly SpiedCall<In, Out>[]
  /** Resolves when at least so many attempts have begun; default 1. */
  called(times?: number, options?: SpyOptions): Promise<readonly SpiedCall<In, Out>[]>
  /** Resolves when so many were completed, with those. */
  completed(times?: number, options?: SpyOptions): Promise<readonly SpiedCall<In, Out>[]>
  /** Resolves when so many failed, with those. */
  failed(times?: number, options?: SpyOptions): Promise<readonly SpiedCall<In, Out>[]>
}

export interface Spies {
  readonly began: (attempt: AttemptEvent) => void
  readonly ended: (attempt: AttemptEvent, outcome: AttemptOutcome) => void
  readonly on: (action: string) => Spy
}

type Call = { -readonly [K in keyof SpiedCall]: SpiedCall[K] }

const WAIT_MS = 10_000

export function createSpies(): Spies {
  const calls = new Map<string, Call[]>()
  const running = new Map<AttemptEvent, Call>()
  const waiters = new Set<() => void>()

  function callsOf(action: string): Call[] {
    const known = calls.get(action) ?? []
    calls.set(action, known)
    return known
  }

  function wait(
    action: string,
    what: string,
    times: number,
    { timeoutMs = WAIT_MS }: SpyOptions,
    counts: (call: Call) => boolean,
  ): Promise<readonly SpiedCall[]> {
    const found = (): readonly Call[] => callsOf(action).filter(counts)
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (found().length < times) return
        stop()
        resolve(found())
      }
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`'${action}' was ${what} ${found().length} of ${times} times in ${timeoutMs} ms`))
      }, timeoutMs)
      const stop = (): void => {
        clearTimeout(timer)
        waiters.delete(look)
      }
      waiters.add(look)
      look()
    })
  }

  function tell(): void {
    for (const look of waiters) look()
  }

  return {
    began(attempt) {
      const { runId, node, input } = attempt
      const call: Call = {
        runId,
        node,
        attempt: attempt.attempt,
        input: JSON.parse(input),
        outcome: 'running',
        output: undefined,
        error: undefined,
      }
      running.set(attempt, call)
      callsOf(attempt.action).push(call)
      tell()
    },
    ended(attempt, outcome) {
      const call = running.get(attempt)
      if (call === undefined) return
      running.delete(attempt)
      call.outcome = outcome.state
      if (outcome.state === 'completed') call.output = JSON.parse(outcome.output)
      if (outcome.state === 'failed') call.error = outcome.error
      tell()
    },
    on: (action) => ({
      get calls() {
        return [...callsOf(action)]
      },
      called: async (times = 1, options = {}) => wait(action, 'called', times, options, () => true),
      completed: async (times = 1, options = {}) =>
        wait(action, 'completed', times, options, (call) => call.outcome === 'completed'),
      failed: async (times = 1, options = {}) =>
        wait(action, 'failed', times, options, (call) => call.outcome === 'failed'),
    }),
  }
}
