// Traces: what an application notes about the way of a message, found again by the message or by name.
export interface OutgoingTrace {
  readonly transactionId: string
  readonly partitionId: string
  /** JSON text. */
  readonly data: string
  readonly eventType: string
  readonly group: string | null
  readonly workerId: string | null
  readonly names: readonly string[]
}

export interface Trace {
  readonly id: string
  readonly eventType: string
  readonly data: string
  readonly group: string | null
  readonly workerId: string | null
  readonly createdAt: string
  readonly names: readonly string[]
}

export interface NamedTrace extends Trace {
  readonly transactionId: string
  readonly partitionId: string
  /** Null when the message is no longer kept. */
  readonly queue: string | null
  readonly partition: string | null
  readonly payload: string | null
}

export interface TraceName {
  readonly name: string
  readonly traces: number
  readonly messages: number
  readonly lastSeen: string
}

export interface Page {
  readonly limit: number
  readonly offset: number
}
