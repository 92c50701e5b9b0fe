// The loop of a consumer: `concurrency` workers that each pop, work and pop again, until the limit is reached, nothing came
// for idleMillis, or it is told to stop. Told to stop it claims no more, lets the handlers at work finish, hands back what
// was not begun, and resolves. A poll that fails is tried again with a growing pause; what can never succeed ends the loop.
import { LockstepError } from '../../protocol/errors.ts'
import type { Delivery } from '../../protocol/message.ts'
import { errorLine } from '../logger.ts'
import { budgetOf, type Budget } from './budget.ts'
import type { ConsumeContext } from './consume-context.ts'

export interface ConsumeResult {
  /** Messages that were finished with: completed, or dead-lettered after their last failure. */
  readonly consumed: number
  readonly reason: 'limit' | 'idle' | 'stopped'
}

/** Works on one pop and reports the messages finished with as they are. */
export type Work = (deliveries: readonly Delivery[], finished: (count: number) => void) => Promise<void>

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
const EMPTY_PAUSE_MS = 100

interface Shared {
  readonly context: ConsumeContext
  readonly work: Work
  readonly batch: number
  readonly budget: Budget
  /** Ends the workers; `stopping` of the context follows it. */
  readonly end: (reason: ConsumeResult['reason']) => void
  readonly ended: AbortSignal
  busy: number
  lastMessageAt: number
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
  })
}

/** Milliseconds left before the consumer counts as idle; null without idleMillis, or while somebody works. */
function idleLeft(shared: Shared): number | null {
  const { idleMs } = shared.context.plan
  if (idleMs === null || shared.busy > 0) return idleMs
  return Math.max(0, shared.lastMessageAt + idleMs - performance.now())
}

async function popOnce(shared: Shared, batch: number): Promise<readonly Delivery[]> {
  const { context } = shared
  const { plan } = context
  const left = idleLeft(shared)
  const timeoutMs = Math.ceil(left === null ? plan.timeoutMs : Math.min(plan.timeoutMs, left))
  const call = {
    queue: plan.definition.name,
    partition: plan.partition,
    group: plan.group,
    batch,
    partitions: plan.partitions,
    wait: (plan.wait ?? true) && timeoutMs > 0,
    timeoutMs,
    leaseSeconds: plan.leaseSeconds,
    start: plan.start,
  }
  return context.transport.pop(call, shared.ended)
}

/** One claim and its work. False when there was nothing. */
async function turn(shared: Shared, taken: number): Promise<boolean> {
  let finished = 0
  try {
    const deliveries = await popOnce(shared, taken)
    if (deliveries.length === 0) return false
    shared.busy += 1
    try {
      await shared.work(deliveries, (count) => {
        finished += count
      })
    } finally {
      shared.busy -= 1
      shared.lastMessageAt = performance.now()
    }
    return true
  } finally {
    shared.budget.give(taken, finished)
  }
}

async function worker(shared: Shared): Promise<void> {
  const { context, budget, ended } = shared
  let pauseMs = FIRST_PAUSE_MS
  while (!ended.aborted) {
    const taken = budget.take(shared.batch)
    if (taken === null) return shared.end('limit')
    if (taken === 0) {
      await Promise.race([budget.changed(), pause(LONGEST_PAUSE_MS, ended)])
      continue
    }
    try {
      const found = await turn(shared, taken)
      pauseMs = FIRST_PAUSE_MS
      if (found) continue
      if (idleLeft(shared) === 0) return shared.end('idle')
      if (context.plan.wait === false) await pause(EMPTY_PAUSE_MS, ended)
    } catch (error) {
      if (!(error instanceof LockstepError) || error.retry === 'never') throw error
      if (idleLeft(shared) === 0) return shared.end('idle')
      context.log.warn(
        { queue: context.plan.definition.name, code: error.code, error: errorLine(error) },
        'a poll failed; trying again',
      )
      await pause(pauseMs, ended)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
}

/** `stop` is the controller whose signal is the context's `stopping`. */
export async function consumeLoop(
  context: ConsumeContext,
  stop: AbortController,
  batch: number,
  work: Work,
): Promise<ConsumeResult> {
  let reason: ConsumeResult['reason'] = 'stopped'
  const { plan } = context
  const shared: Shared = {
    context,
    work,
    batch,
    budget: budgetOf(plan.limit, plan.concurrency),
    end(why) {
      if (stop.signal.aborted) return
      reason = why
      stop.abort()
    },
    ended: stop.signal,
    busy: 0,
    lastMessageAt: performance.now(),
  }
  const workers = Array.from({ length: plan.concurrency }, async () => {
    try {
      await worker(shared)
    } catch (error) {
      // The others drain; the fault is the loop's result.
      stop.abort()
      throw error
    }
  })
  const results = await Promise.allSettled(workers)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { consumed: shared.budget.finished, reason }
}
