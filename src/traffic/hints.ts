// Ties the bell of this process to those of the others: what was committed here is told to them, what they tell rings here.
// Only hints: a process that hears nothing finds its work at the next look, and a failure here disturbs no verb.
import { Listener } from '../db/listen.ts'
import type { ListenState } from '../db/listen.ts'
import { Notifier } from '../db/notify.ts'
import type { Database } from '../db/pool.ts'
import { mintId } from '../protocol/mint-id.ts'
import { ringHint } from './hint-text.ts'
import type { Parking } from './parking.ts'
import type { RunTraffic } from './run-traffic.ts'

export interface Hints {
  /** Call after a commit that somebody may wait for, with what its hint says. */
  tell(hint: string): void
  /** Call before something waits here. Idempotent; the connection is made behind. */
  listen(parking: Parking, runs: RunTraffic): void
  stop(): Promise<void>
  readonly state: ListenState
}

export interface HintsOptions {
  readonly database: Database
  /** Of the connection that listens. */
  readonly applicationName: string
  /** Told of each change that happened by itself. */
  readonly onState: (state: ListenState, reason: string) => void
  /** A hint that could not be sent. */
  readonly onFailure: (error: unknown) => void
}

export function createHints({ database, applicationName, onState, onFailure }: HintsOptions): Hints {
  const processId = mintId()
  const notifier = new Notifier({ db: database.forgetful, processId, onFailure })
  let listener: Listener | null = null

  return {
    tell: (hint) => notifier.hint(hint),

    listen(parking, runs) {
      listener ??= new Listener({
        config: { ...database.direct, application_name: applicationName },
        processId,
        onState,
        onHints: (hints) => {
          if (hints === null) {
            parking.ringAll()
            runs.heardAll()
          } else for (const hint of hints) if (!runs.heard(hint)) ringHint(parking, hint)
        },
      })
      listener.start()
    },

    async stop() {
      await Promise.all([notifier.stop(), listener?.stop()])
    },

    get state() {
      return listener?.state ?? 'stopped'
    },
  }
}
