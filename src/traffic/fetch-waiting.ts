// A fetch that waits: it looks, and looks again when one of its queues is rung or its pause is over, until there is enough, its time
// is over or an entry tells of a fault. Between looks it holds no connection; the bell is a hint, the pause is the floor.
import type { FetchedEntry, FetchRequest } from '../protocol/fetch.ts'
import type { Parking } from './parking.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

export type Look = () => Promise<readonly FetchedEntry[]>

export async function fetchWaiting(
  request: FetchRequest,
  look: Look,
  parking: Pick<Parking, 'hear' | 'closed'>,
  gone: AbortSignal,
): Promise<readonly FetchedEntry[]> {
  const waits = request.maxWaitMs > 0 && request.minBytes > 0
  if (!waits) return look()
  const endsAt = performance.now() + request.maxWaitMs
  let heard = createBell()
  const unhear = parking.hear(new Set(request.entries.map(({ queue }) => queue)), () => heard.ring())
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      heard = createBell()
      const entries = await look()
      const left = endsAt - performance.now()
      if (isEnough(entries, request.minBytes) || left <= 0 || parking.closed || gone.aborted) return entries
      await heard.within(Math.min(pause, left), gone)
    }
  } finally {
    unhear()
  }
}

function isEnough(entries: readonly FetchedEntry[], minBytes: number): boolean {
  let bytes = 0
  for (const { records, fault } of entries) {
    if (fault !== null) return true
    for (const { payload } of records) bytes += Math.max(1, Buffer.byteLength(payload))
  }
  return bytes >= minBytes
}

interface Bell {
  ring(): void
  /** Resolves when it was rung, the time is over or the client has gone. */
  within(milliseconds: number, gone: AbortSignal): Promise<void>
}

function createBell(): Bell {
  let rung = false
  let wake: (() => void) | null = null
  return {
    ring() {
      rung = true
      wake?.()
    },
    within(milliseconds, gone) {
      if (rung) return Promise.resolve()
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          gone.removeEventListener('abort', done)
          resolve()
        }
        const timer = setTimeout(done, milliseconds)
        gone.addEventListener('abort', done)
        wake = done
      })
    },
  }
}
