// Tells the other processes, after a commit, where looking may pay: all hints of an interval in one NOTIFY, on a call of its
// own, because a NOTIFY inside a committing transaction makes all commits of the server wait for each other. Never fails a write.
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../protocol/limits.ts'
import type { Executor } from './executor.ts'
import { CHANNEL, writeHints } from './hint-payload.ts'

export interface NotifierOptions {
  readonly db: Executor
  readonly processId: string
  readonly intervalMs?: number
  /** A notification that could not be sent; for the log and the metric. */
  readonly onFailure?: (error: unknown) => void
}

export class Notifier {
  /** Notifications sent, for the metric. */
  sent = 0
  private readonly options: NotifierOptions
  private readonly hints = new Set<string>()
  private sending: Promise<void> | null = null
  private stopped = false

  constructor(options: NotifierOptions) {
    this.options = options
  }

  /** Call after the commit. Returns at once; the first hint after a pause leaves at once, the next ones gather. */
  hint(text: string): void {
    if (this.stopped) return
    this.hints.add(text)
    this.sending ??= this.send()
  }

  /** Sends what is gathered and ends. Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true
    await this.sending
  }

  private async send(): Promise<void> {
    while (this.hints.size > 0) {
      const hints = [...this.hints]
      this.hints.clear()
      try {
        await this.options.db.rows('select pg_notify($1, $2)', [CHANNEL, writeHints(this.options.processId, hints)])
        this.sent++
      } catch (error) {
        this.options.onFailure?.(error)
      }
      if (!this.stopped) await sleep(this.options.intervalMs ?? LIMITS.notifyIntervalMs)
    }
    this.sending = null
  }
}
