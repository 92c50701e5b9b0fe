// What every part of a running stream shares: its plan and its id, the ways to the broker or the database, what is counted, and whom to
// tell of an error.
import { LockstepError } from '../../protocol/errors.ts'
import { errorLine, type Logger } from '../logger.ts'
import type { Transport } from '../transport.ts'
import type { LateMessage } from './fold-message.ts'
import type { StreamCalls } from './stream-calls.ts'
import type { StreamPlan } from './stream-plan.ts'

/** Where something went wrong; null where no message is at fault. */
export interface StreamFault {
  readonly partition: string | null
  readonly offset: number | null
}

/** Since the start, of this runner alone. */
export interface StreamCounts {
  /** Messages of the source that are done. */
  messages: number
  /** Messages pushed to the sink. */
  results: number
  /** Windows and sessions closed. */
  closed: number
  late: number
  /** Messages that failed, each time they did. */
  failed: number
  /** Cycles that changed nothing: their lease was lost, or the sink was full. */
  lost: number
}

export interface StreamContext {
  readonly plan: StreamPlan
  readonly queryId: number
  readonly calls: StreamCalls
  readonly transport: Transport
  readonly log: Logger
  readonly counts: StreamCounts
  readonly leaseSeconds: number
  readonly onError: ((error: unknown, fault: StreamFault) => unknown) | null
  readonly onLate: ((message: LateMessage) => unknown) | null
  /** Windows were opened or are over: the one who closes them looks again. */
  readonly nudge: () => void
  lastError: string | null
}

/** A callback of the caller's that throws is told in the log and stops nothing. */
async function heard({ log, plan }: StreamContext, tell: () => unknown): Promise<void> {
  try {
    await tell()
  } catch (error) {
    log.warn({ stream: plan.name, error: errorLine(error) }, 'a callback of a stream failed')
  }
}

export function tellError(context: StreamContext, what: string, error: unknown, fault: StreamFault): void {
  context.lastError = errorLine(error)
  context.log.warn({ stream: context.plan.name, ...fault, error: context.lastError }, what)
  void heard(context, () => context.onError?.(error, fault))
}

export function tellLate(context: StreamContext, messages: readonly LateMessage[]): void {
  context.counts.late += messages.length
  for (const message of messages) void heard(context, () => context.onLate?.(message))
}

/** Somebody registered the name with another configuration and reset, or the database was made anew. */
export function goneError({ plan }: StreamContext): LockstepError {
  return new LockstepError(
    'stream_conflict',
    `the stream '${plan.name}' was reset or registered anew while it ran; this runner's state is gone`,
    { stream: plan.name },
  )
}
