// Starts a consumer and gives it its two ends: the caller's signal or the client's close stop it, and a close that has
// waited long enough abandons the handlers that still run.
import { consumeLoop, type ConsumeResult, type Work } from './consume-loop.ts'
import type { ConsumeContext } from './consume-context.ts'
import { farewell } from './farewell.ts'
import { reportLostOnce } from './report-lost.ts'
import { noteTrace } from '../traces/note-trace.ts'
import { stopSwitch } from './stop-switch.ts'
import type { Attempts } from '../attempts.ts'
import type { Logger } from '../logger.ts'
import type { Plan } from '../plan.ts'
import type { ConsumeOptions } from '../queue-builder.ts'
import type { Transport } from '../transport.ts'
import type { WarnConflict } from '../warn-conflict.ts'

export interface Consumer {
  stop(): void
  abandon(): void
  readonly done: Promise<ConsumeResult>
}

export interface ConsumerParts {
  readonly transport: Transport
  readonly attempts: Attempts
  readonly log: Logger
  readonly plan: Plan
  readonly options: ConsumeOptions
  readonly batch: number
  /** Without a broker in between. */
  readonly inProcess: boolean
  readonly warnConflict: WarnConflict
  readonly work: (context: ConsumeContext) => Work
}

function warnOnce(log: Logger, queue: string): () => void {
  let warned = false
  return () => {
    if (warned) return
    warned = true
    log.warn(
      { queue },
      'a handler returned under autoAck(false) without acknowledging its message; it stays leased until the lease ends',
    )
  }
}

/** What the plan names, else the queue's own leaseTime: a configure that names no option changes nothing and echoes all. */
function leaseLength(transport: Transport, plan: Plan): () => Promise<number> {
  let known: Promise<number> | null = plan.leaseSeconds === null ? null : Promise.resolve(plan.leaseSeconds)
  async function look(): Promise<number> {
    const call = { queue: plan.definition.name, namespace: null, task: null, options: {}, mode: 'merge' as const }
    return (await transport.configure(call)).options.leaseTime
  }
  return async () => {
    const looking = (known ??= look())
    try {
      return await looking
    } catch (error) {
      if (known === looking) known = null
      throw error
    }
  }
}

export function startConsumer(parts: ConsumerParts): Consumer {
  const { transport, attempts, log, plan, options } = parts
  const stopping = stopSwitch()
  const abandoned = stopSwitch()
  const context: ConsumeContext = {
    transport,
    attempts,
    log,
    plan,
    stopping,
    abandoned,
    farewell: farewell(parts.inProcess),
    onInvalid: options.onInvalid ?? null,
    leaseSeconds: leaseLength(transport, plan),
    warnUntouched: warnOnce(log, plan.definition.name),
    reportLost: reportLostOnce(log),
    noteTrace: noteTrace(transport, log),
    warnConflict: () => parts.warnConflict(plan),
  }
  const stop = (): void => stopping.throw()
  if (options.signal?.aborted === true) stop()
  options.signal?.addEventListener('abort', stop, { once: true })
  const run = async (): Promise<ConsumeResult> => {
    try {
      return await consumeLoop(context, parts.batch, parts.work(context))
    } finally {
      options.signal?.removeEventListener('abort', stop)
    }
  }
  return { stop, abandon: () => abandoned.throw(), done: run() }
}
