// The loop of a consumer: `concurrency` workers that each pop, work and pop again, until the limit is reached, nothing came
// for idleMillis, or it is told to stop. Told to stop it claims no more, lets the handlers at work finish, hands back what
// was not begun, and resolves. A poll that fails is tried again with a growing pause; what can never succeed ends the loop.
import { LockstepError } from '../../protocol/errors.ts'
import type { Delivery } from '../../protocol/message.ts'
import { errorLine } from '../logger.ts'
import { popCall } from '../pop-call.ts'
import { budgetOf, type Budget } from './budget.ts'
import type { ConsumeContext } from './consume-context.ts'
import { pauseUnless } from './stop-switch.ts'

export interface ConsumeResult {
  /** Messages that were finished with: completed, or dead-lettered after their last failure. */
  readonly consumed: number
  readonly reason: 'limit' | 'idle' | 'stopped'
}

/** Works on one pop and reports the messages finished with as they are. */
export type Work = (deliveries: readonly Delivery[], finished: (count: number) => void) => Promise<void>

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** After an answer with nothing that came without any waiting, whoever gave it: never a busy loop. */
const EMPTY_PAUSE_MS = 100

interface Shared {
  readonly context: ConsumeContext
  readonly work: Work
  readonly batch: number
  readonly budget: Budget
  /** Ends the workers, for the first reason that was given. */
  readonly end: (reason: ConsumeResult['reason']) => void
  busy: number
  lastMessageAt: number
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
  const asked = { batch, wait: (plan.wait ?? true) && timeoutMs > 0, timeoutMs }
  const call = popCall(plan, asked, context.warnConflict)
  // One of its own for each pop: a signal that lives as long as the consumer would gather what hangs on it.
  const given = new AbortController()
  const sentAt = performance.now()
  let answered = (): void => {}
  const forget = context.stopping.onThrown(() => {
    answered = context.farewell.giveUp(sentAt, () => given.abort())
  })
  try {
    return await context.transport.pop(call, given.signal)
  } finally {
    forget()
    answered()
  }
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
  const { context, budget } = shared
  const { stopping } = context
  let pauseMs = FIRST_PAUSE_MS
  while (!stopping.thrown) {
    const taken = budget.take(shared.batch)
    if (taken === null) return shared.end('limit')
    if (taken === 0) {
      await Promise.race([budget.changed(), pauseUnless(stopping, LONGEST_PAUSE_MS)])
      continue
    }
    try {
      const started = performance.now()
      const found = await turn(shared, taken)
      pauseMs = FIRST_PAUSE_MS
      if (found) continue
      if (idleLeft(shared) === 0) return shared.end('idle')
      if (performance.now() - started < EMPTY_PAUSE_MS) await pauseUnless(stopping, EMPTY_PAUSE_MS)
    } catch (error) {
      if (!(error instanceof LockstepError) || error.retry === 'never') throw error
      if (idleLeft(shared) === 0) return shared.end('idle')
      context.log.warn(
        { queue: context.plan.definition.name, code: error.code, error: errorLine(error) },
        'a poll failed; trying again',
      )
      await pauseUnless(stopping, pauseMs)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
}

export async function consumeLoop(context: ConsumeContext, batch: number, work: Work): Promise<ConsumeResult> {
  let reason: ConsumeResult['reason'] = 'stopped'
  const { plan, stopping } = context
  const shared: Shared = {
    context,
    work,
    batch,
    budget: budgetOf(plan.limit, plan.concurrency),
    end(why) {
      if (stopping.thrown) return
      reason = why
      stopping.throw()
    },
    busy: 0,
    lastMessageAt: performance.now(),
  }
  const workers = Array.from({ length: plan.concurrency }, async () => {
    try {
      await worker(shared)
    } catch (error) {
      // The others drain; the fault is the loop's result.
      stopping.throw()
      throw error
    }
  })
  const results = await Promise.allSettled(workers)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { consumed: shared.budget.finished, reason }
}
