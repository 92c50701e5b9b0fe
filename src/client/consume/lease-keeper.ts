// Keeps the lease of one pop alive while handlers run, each time for as long as it was given at first. Renewing stops with the
// handlers, so a process that dies keeps nobody waiting longer than one lease. A renewal that renewed nothing means that
// somebody else may hold the messages, and is told at once; one that fails is tried again at the next beat.
import { errorLine, type Logger } from '../logger.ts'
import type { Transport } from '../transport.ts'

export interface LeaseKeeper {
  stop(): void
}

export interface KeepOptions {
  readonly leaseId: string
  /** Milliseconds between renewals; 'auto' is a third of the lease, null lets it lapse. */
  readonly interval: number | 'auto' | null
  /** How long a lease is, asked only when a handler outlives the first beat. */
  readonly leaseSeconds: () => Promise<number>
  readonly onLost: () => void
}

/** A lease may be as short as a second. */
const FIRST_BEAT_MS = 300

export function keepLease(transport: Pick<Transport, 'renew'>, log: Logger, options: KeepOptions): LeaseKeeper {
  const { leaseId, interval, leaseSeconds, onLost } = options
  if (interval === null || leaseId === '') return { stop() {} }
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  async function beat(): Promise<void> {
    let everyMs = FIRST_BEAT_MS
    try {
      const seconds = await leaseSeconds()
      everyMs = interval === 'auto' || interval === null ? (seconds * 1_000) / 3 : interval
      const lasting = Math.max(seconds, Math.ceil((everyMs * 2) / 1_000))
      if (!stopped && (await transport.renew(leaseId, lasting)).renewed === 0) {
        if (!stopped) onLost()
        return
      }
    } catch (error) {
      if (stopped) return
      log.warn({ leaseId, error: errorLine(error) }, 'a lease could not be renewed; trying again')
    }
    if (!stopped) timer = setTimeout(() => void beat(), everyMs)
  }

  timer = setTimeout(() => void beat(), FIRST_BEAT_MS)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
