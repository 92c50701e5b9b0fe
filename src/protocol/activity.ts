// What brokers did, as people look at it.
export interface ActivityCounts {
  readonly pushed: number
  readonly delivered: number
  readonly acked: number
  readonly failed: number
}

/** One bucket of time, beginning at `at`. */
export interface ActivityPoint extends ActivityCounts {
  readonly at: string
}

export interface QueueActivity extends ActivityCounts {
  readonly queue: string
}

export interface DeadLetterCause {
  readonly queue: string
  readonly group: string
  readonly cause: string
  /** The first line, 200 characters at most. */
  readonly error: string
  readonly letters: number
  readonly firstAt: string
  readonly lastAt: string
}

export interface SilentPartition {
  readonly queue: string
  readonly partition: string
  readonly lastPushedAt: string | null
  readonly messages: number
}
