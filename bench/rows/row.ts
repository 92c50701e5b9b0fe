// A row of the table: which load it runs, how, what is to be reached, and what it is compared with.
export interface Row {
  readonly name: string
  readonly what: string
  /** Name of the load in load/load-process.ts. */
  readonly load: string
  readonly server: 'broker' | 'echo' | 'none'
  readonly connections: number
  readonly batch: number
  readonly partitions: number
  readonly unit: string
  /** To reach; null for a baseline. */
  readonly target: number | null
  /** To stay at or under, in milliseconds. */
  readonly p50Ms?: number
  /** Options the queue is configured with before the window. */
  readonly options?: Readonly<Record<string, number | boolean>>
  /** Run on a broker of its own, so that neither side of the row's memory holds what other rows left. */
  readonly ownBroker?: boolean
  /** Rows of the same run whose rate this one is divided by. */
  readonly against?: readonly string[]
}
