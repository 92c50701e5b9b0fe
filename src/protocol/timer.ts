// Timers as data: what is scheduled and cancelled, what became of it, and what is pending. Payloads are JSON text; instants are
// the database's, as ISO-8601 UTC text.

export type TimerOperation =
  | {
      readonly op: 'schedule'
      readonly queue: string
      readonly key: string
      readonly partition: string
      /** Counted from the database's now; zero fires at once. */
      readonly delayMs: number
      /** Of the message; null means its id. */
      readonly transactionId: string | null
      readonly payload: string
      readonly producerSub: string | null
      /** UUIDv7 minted by the caller; it becomes the message's id. */
      readonly messageId: string
    }
  | {
      readonly op: 'cancel'
      readonly queue: string
      readonly key: string
      /** Told again when there is nothing to cancel. */
      readonly transactionId: string | null
    }

export type TimerStatus = 'scheduled' | 'rescheduled' | 'cancelled' | 'absent'

export interface TimerResult {
  readonly status: TimerStatus
  readonly transactionId: string | null
  /** Null after a cancel. */
  readonly messageId: string | null
  readonly deliverAt: string | null
}

export interface ShownTimer {
  readonly key: string
  readonly partition: string
  readonly deliverAt: string
  readonly transactionId: string
  readonly messageId: string
  readonly producerSub: string | null
  /** Attempts that found the queue full. */
  readonly attempts: number
  readonly lastError: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** Whether its payload is sealed at rest. */
  readonly encrypted: boolean
}

export interface ReadTimer extends ShownTimer {
  /** Null when it is sealed with a key that is not here. */
  readonly payload: string | null
}
