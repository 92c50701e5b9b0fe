// What the loop does with a message once its handler is done, as a pure decision. A commit that lost hands the message back
// at once and spends nothing; a throw spends one retry; a message that nobody touched keeps its lease.
import { LockstepError } from '../../protocol/errors.ts'
import type { AckStatus } from '../../protocol/message.ts'
import type { Attempt, Verdict } from '../attempts.ts'
import { errorLine } from '../logger.ts'

export type Ended =
  | { readonly how: 'returned' }
  | { readonly how: 'threw'; readonly error: unknown }
  | { readonly how: 'abandoned' }

export type Settlement =
  /** `lost`: handed back because its commit lost. */
  | { readonly ack: AckStatus; readonly error: string | null; readonly lost?: Verdict }
  /** Nothing to send. `finished`: done with; `held`: the rest of the partition's batch is still ours. */
  | { readonly ack: null; readonly finished: boolean; readonly held: boolean; readonly untouched: boolean }

const NOT_OURS: Settlement = { ack: null, finished: false, held: false, untouched: false }
const HAND_BACK = { ack: 'retry', error: null } as const

/** Of a rollback that was thrown; null for any other error. */
function verdictOf(error: unknown): Verdict | null {
  if (!(error instanceof LockstepError) || error.code !== 'rolled_back') return null
  const { reason } = error.details
  return { reason: typeof reason === 'string' ? reason : error.code, error: error.message }
}

export function settle(ended: Ended, attempt: Attempt, autoAck: boolean): Settlement {
  if (attempt.leaseLost) return NOT_OURS
  if (attempt.settled) return { ack: null, finished: attempt.done, held: !attempt.released, untouched: false }
  if (ended.how === 'abandoned') return HAND_BACK
  if (ended.how === 'threw') {
    const lost = verdictOf(ended.error)
    return lost === null ? { ack: 'failed', error: errorLine(ended.error) } : { ...HAND_BACK, lost }
  }
  if (attempt.lost !== null) return { ...HAND_BACK, lost: attempt.lost }
  if (autoAck) return { ack: 'completed', error: null }
  return { ack: null, finished: true, held: true, untouched: true }
}
