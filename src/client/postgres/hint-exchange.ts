// Tells other processes after a commit, and is told by them, which queue may be worth a look. A hint only: whoever misses
// one finds the work at its next look. The connection that listens is made when something first waits here, not before.
import { Listener } from '../../db/listen.ts'
import { Notifier } from '../../db/notify.ts'
import type { Database } from '../../db/pool.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { errorLine, type Logger } from '../logger.ts'

export interface HintExchange {
  /** After a commit that brought messages to this queue. */
  tell(queue: string): void
  /** Begins to listen; idempotent. */
  listen(): void
  stop(): Promise<void>
}

/** `heard` gets a queue's name, or null when anything may have been missed. */
export function hintExchange(database: Database, log: Logger, heard: (queue: string | null) => void): HintExchange {
  const processId = mintId()
  const notifier = new Notifier({
    db: database,
    processId,
    onFailure: (error) => log.warn({ error: errorLine(error) }, 'other processes could not be told of a push'),
  })
  const listener = new Listener({
    config: { ...database.direct, application_name: 'lockstep-listen' },
    processId,
    onHints(hints) {
      if (hints === null) heard(null)
      else for (const queue of hints) heard(queue)
    },
  })
  return {
    tell: (queue) => notifier.hint(queue),
    listen: () => listener.start(),
    async stop() {
      await Promise.all([notifier.stop(), listener.stop()])
    },
  }
}
