// Consumer groups as people see them, and the points in time a group can be moved to.

export interface GroupInfo {
  readonly group: string
  readonly queue: string
  readonly createdAt: string
  readonly subscriptionMode: string
  /** Messages created before are not the group's; null: all that is kept. */
  readonly startsAt: string | null
  /** Partitions whose cursor exists. */
  readonly cursors: number
  readonly partitionsWithLag: number
  readonly totalLag: number
  readonly leased: number
  /** Age of the oldest message at a cursor, by the database's clock. */
  readonly maxTimeLagSeconds: number
  /** Delivers only the newest message of each partition. */
  readonly conflation: boolean
}

export interface GroupLane {
  readonly queue: string
  readonly partition: string
  readonly leaseId: string | null
  readonly leaseActive: boolean
  readonly leaseExpiresAt: string | null
  /** Offset of the first unfinished message; null while the group's start has not been looked up here. */
  readonly committed: number | null
  readonly offsetLag: number
  readonly timeLagSeconds: number
  readonly failures: number
  readonly crashes: number
  readonly conflation: boolean
}

/** An instant (ISO-8601), everything that is kept, or nothing of what is there. */
export type SeekTarget = { readonly timestamp: string } | 'start' | 'end'
