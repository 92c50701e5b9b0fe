// Writes what this broker did into the minute's row, every ten seconds and once at the end. A report that fails is lost and
// told: the counts are for people, and no request waits for them.
import type { Database } from '../db/pool.ts'
import { recordActivity } from '../operations/record-activity.ts'
import type { Activity } from '../traffic/activity.ts'

const EVERY_MS = 10_000

export class ActivityReporter {
  private readonly database: Database
  private readonly activity: Activity
  private readonly onFault: (error: unknown) => void
  private timer: NodeJS.Timeout | null = null
  private reporting: Promise<void> = Promise.resolve()

  constructor(database: Database, activity: Activity, onFault: (error: unknown) => void) {
    this.database = database
    this.activity = activity
    this.onFault = onFault
  }

  /** Idempotent. */
  start(): void {
    this.timer ??= setInterval(() => this.report(), EVERY_MS)
  }

  /** Idempotent; resolves when the last report has ended. */
  async stop(): Promise<void> {
    if (this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
    this.report()
    await this.reporting
  }

  private report(): void {
    this.reporting = this.reporting.then(() => recordActivity(this.database, this.activity.take())).catch(this.onFault)
  }
}
