// The handle of a run: what became of it, waiting for its end, and the verbs on it. It holds nothing but the id; before the
// commit of the transaction that submitted the run every call answers RunNotFoundError at once.
import { oneOf, root, text } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { pause } from '../../protocol/pause.ts'
import type { ShownRun } from '../../protocol/run.ts'
import { revivedError, type StoredError } from '../define/failures.ts'
import { runText } from '../define/plan-node.ts'
import { milliseconds } from '../define/policy.ts'
import type { RunHandle, RunState, RunStatus, WaitOptions } from '../define/submitter.ts'
import { graphOutputs } from './graph-outputs.ts'
import type { RunCalls } from './run-calls.ts'
import { RunNotFoundError } from './run-not-found.ts'

const STATES = oneOf('pending', 'running', 'sleeping', 'compensating', 'completed', 'failed', 'cancelled')
const signalName = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })
const reasonText = text({ max: LIMITS.errorTextBytes })
/** A wait without a timeout asks again this often at the latest; over HTTP each is one long poll. */
const ROUND_MS = 30_000
/** A wait outlives an outage of the broker or of PostgreSQL for so long; whatever comes through begins it anew. */
const OUTAGE_MS = 60_000
const OUTAGE_PAUSE_MS = 500

const isPassing = (error: unknown): boolean => error instanceof LockstepError && error.retry === 'later'

/** The database says 'done' of a run whose end it has just decided. */
export function stateOf(word: string): RunState {
  return word === 'done' ? 'completed' : STATES.read(word, root(), 'state')
}

export function storedErrorIn(json: string | null): StoredError | null {
  if (json === null) return null
  // Written by storedError or by our own SQL.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as StoredError
}

function statusOf(id: string, shown: ShownRun): RunStatus {
  const state = stateOf(shown.state)
  const error = state === 'completed' ? null : storedErrorIn(shown.error)
  return {
    id,
    state,
    workflow: shown.workflow,
    version: shown.version === '' ? null : shown.version,
    attempt: shown.attempt,
    progress: shown.progress === null ? null : JSON.parse(shown.progress),
    error: error === null ? null : revivedError(error),
    priority: shown.priority,
    tags: shown.tags,
    key: shown.key,
    createdAt: shown.createdAt,
    finishedAt: shown.finishedAt,
    occurrence: shown.occurrence,
  }
}

/** Of a graph's failure also what failed its node: a log often has only this. */
function whyOf(stored: StoredError | null): string {
  if (stored === null) return 'unknown'
  const cause = stored.code === 'node_failed' ? stored.cause : undefined
  return cause === undefined ? stored.message : `${stored.message}: ${cause.message}`
}

export function runHandle<Out>(calls: RunCalls, id: string, created: boolean, xid: string | null): RunHandle<Out> {
  async function show(): Promise<ShownRun> {
    const shown = await calls.show(id, xid)
    if ('missing' in shown) throw new RunNotFoundError(id, shown.missing)
    return shown
  }

  async function ended(options: WaitOptions): Promise<ShownRun> {
    const { signal = null } = options
    const end = options.timeout === undefined ? Infinity : performance.now() + milliseconds(options.timeout, 'timeout')
    let goneSince: number | null = null
    for (;;) {
      signal?.throwIfAborted()
      let state: string
      try {
        const shown = await show()
        if (shown.finishedAt !== null) return shown
        goneSince = null
        state = shown.state
        const left = end - performance.now()
        if (left > 0) {
          await calls.ended(id, Math.ceil(Math.min(left, ROUND_MS)), signal)
          continue
        }
      } catch (error) {
        const now = performance.now()
        goneSince ??= now
        if (!isPassing(error) || now >= end || now - goneSince >= OUTAGE_MS) throw error
        await pause(Math.min(OUTAGE_PAUSE_MS, end - now), signal)
        continue
      }
      throw new LockstepError('wait_timeout', `run ${id} has not ended in time; it is ${state}`, { runId: id })
    }
  }

  async function outcome(shown: ShownRun): Promise<unknown> {
    const state = stateOf(shown.state)
    if (state === 'completed') {
      if (shown.output !== null) return JSON.parse(shown.output)
      return shown.kind === 'graph' ? graphOutputs(await calls.nodes(id)) : null
    }
    const stored = storedErrorIn(shown.error)
    const cause = stored === null ? undefined : revivedError(stored)
    const details = {
      runId: id,
      workflow: shown.workflow,
      ...(stored?.compensation === undefined ? {} : { compensation: stored.compensation }),
    }
    throw state === 'cancelled'
      ? new LockstepError('run_cancelled', `run ${id} of '${shown.workflow}' was cancelled`, details, cause)
      : new LockstepError('run_failed', `run ${id} of '${shown.workflow}' failed: ${whyOf(stored)}`, details, cause)
  }

  async function answered(state: Promise<string>): Promise<string> {
    const told = await state
    if (told !== 'not_found') return told
    await show()
    // It came to be between the two looks.
    return 'again'
  }

  return {
    id,
    created,
    status: async () => statusOf(id, await show()),
    wait: async (options = {}) => statusOf(id, await ended(options)),
    async result(options = {}) {
      // What the run's output is was decided where its definition and this handle were typed.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (await outcome(await ended(options))) as Out
    },
    async cancel(reason) {
      const why = reason === undefined ? null : reasonText.read(reason, root(), 'reason')
      let state = await answered(calls.cancel(id, why))
      if (state === 'again') state = await answered(calls.cancel(id, why))
      return stateOf(state)
    },
    async retry() {
      let state = await answered(calls.retry(id))
      if (state === 'again') state = await answered(calls.retry(id))
      return stateOf(state)
    },
    async signal(name, payload = null) {
      signalName.read(name, root(), 'signal name')
      const body = runText(payload, 'payload')
      let told = await answered(calls.signal(id, name, body))
      if (told === 'again') told = await answered(calls.signal(id, name, body))
      return told === 'ok'
    },
  }
}
