// Keeps the lease of one pop alive while handlers run. Renewing stops with the handlers; a renewal that renewed nothing
// means that somebody else may hold the messages, and is told at once. A renewal that fails is tried again at the next beat.
import type { Logger } from '../logger.ts'
import { errorLine } from '../logger.ts'
import type { Transport } from '../transport.ts'

export interface LeaseKeeper {
  stop(): void
}

export interface Renewal {
  readonly everyMs: number
  readonly seconds: number
}

/** A queue may have a lease as short as a second, and its length is not on the message: the first beat is early. */
const UNKNOWN: Renewal = { everyMs: 10_000, seconds: 30 }
const FIRST_BEAT_MS = 600

export function renewalOf(interval: number | 'auto' | null, leaseSeconds: number | null): Renewal | null {
  if (interval === null) return null
  if (interval === 'auto') {
    return leaseSeconds === null ? UNKNOWN : { everyMs: (leaseSeconds * 1_000) / 3, seconds: leaseSeconds }
  }
  return { everyMs: interval, seconds: leaseSeconds ?? Math.max(UNKNOWN.seconds, Math.ceil((interval * 3) / 1_000)) }
}

export function keepLease(
  transport: Pick<Transport, 'renew'>,
  log: Logger,
  leaseId: string,
  renewal: Renewal | null,
  onLost: () => void,
): LeaseKeeper {
  if (renewal === null || leaseId === '') return { stop() {} }
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  function schedule(delayMs: number): void {
    timer = setTimeout(() => void beat(), delayMs)
  }

  async function beat(): Promise<void> {
    try {
      const { renewed } = await transport.renew(leaseId, renewal?.seconds ?? UNKNOWN.seconds)
      if (stopped) return
      if (renewed === 0) {
        onLost()
        return
      }
    } catch (error) {
      if (stopped) return
      log.warn({ leaseId, error: errorLine(error) }, 'a lease could not be renewed; trying again')
    }
    schedule(renewal?.everyMs ?? UNKNOWN.everyMs)
  }

  schedule(Math.min(FIRST_BEAT_MS, renewal.everyMs))
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
