// What travels about runs: submissions, what became of them, claimed nodes and their ends, as plain data. Inputs and outputs
// are JSON text and stay text.

/** A submission. `kind` and `version` null: whatever is registered under the name. */
export interface OutgoingRun {
  /** UUIDv7 minted by the caller. */
  readonly runId: string
  readonly workflow: string
  readonly kind: 'action' | 'code' | 'graph' | null
  readonly version: string | null
  readonly shape: string | null
  readonly key: string | null
  readonly input: string
  readonly priority: number | null
  readonly delayMs: number | null
  readonly tags: readonly string[] | null
  readonly deadlineMs: number | null
  readonly maxAttempts: number | null
  readonly backoffMs: number | null
  readonly backoffMaxMs: number | null
  readonly limitKey: string | null
  readonly limitMax: number | null
  readonly limitIntervalMs: number | null
  /** Inputs of nodes without predecessors that the submitter could compute itself. */
  readonly plans: readonly { readonly ordinal: number; readonly input: string }[]
}

export interface SubmittedRun {
  /** Of the run that has the key, when that was known. */
  readonly runId: string
  readonly created: boolean
  /** A known key whose run has another input. */
  readonly differs: boolean
}

export interface Submitted {
  readonly runs: readonly SubmittedRun[]
  /** The transaction that they were submitted in; null when they are committed. */
  readonly xid: string | null
}

export type MissingReason = 'uncommitted' | 'rolled_back' | 'unknown'

/** A run as lists have it. */
export interface ListedRun {
  readonly runId: string
  readonly workflow: string
  readonly kind: string
  readonly state: string
  readonly attempt: number
  readonly tags: readonly string[]
  /** JSON {code, message, …}. */
  readonly error: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
}

export interface ShownRun {
  readonly state: string
  readonly kind: string
  readonly workflow: string
  readonly version: string | null
  readonly output: string | null
  readonly error: string | null
  readonly attempt: number
  readonly progress: string | null
  readonly priority: number
  readonly tags: readonly string[]
  readonly key: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
  /** The slot that a schedule started it for, ISO-8601 UTC; null: nobody's. */
  readonly occurrence: string | null
}

export interface ShownNode {
  readonly ordinal: number
  readonly name: string
  readonly kind: string
  readonly state: string
  readonly action: string | null
  readonly itemOf: number | null
  readonly itemKey: string | null
  readonly onFailure: string
  readonly attempt: number
  readonly output: string | null
  readonly error: string | null
  readonly progress: string | null
  readonly finishedAt: string | null
}

/** Which claim of which node. */
export interface NodeLease {
  readonly runId: string
  readonly ordinal: number
  readonly leaseId: string
}

export interface ClaimedNode extends NodeLease {
  readonly name: string
  readonly want: string
  readonly attempt: number
  readonly input: string | null
  readonly workflow: string
  readonly version: string | null
  /** Of a node of a graph or of code: the input of its run. */
  readonly runInput: string | null
  readonly maxAttempts: number
  readonly failures: number
  /** Code that has recorded nothing yet. */
  readonly fresh: boolean
  /** The slot that a schedule started its run for, ISO-8601 UTC; null: nobody's. */
  readonly occurrence: string | null
}

/** The end of a node, with what its completer could plan of its successors. */
export interface NodeCompletion extends NodeLease {
  readonly output: string
  readonly plans: readonly { readonly ordinal: number; readonly input: string; readonly take: boolean }[]
}

export interface Completed {
  readonly ok: boolean
  /** Successors that may run now, and those of them that the completer holds already. */
  readonly ready: readonly number[]
  readonly taken: readonly number[]
  readonly ended: boolean
}

export interface NodeFailure extends NodeLease {
  /** JSON {code, message, …}. */
  readonly error: string
  readonly retry: boolean
  readonly retryAfterMs: number | null
}

export interface Failed {
  readonly ok: boolean
  /** True: another attempt follows. */
  readonly again: boolean
}

export type NodePlan = NodeLease &
  (
    | { readonly outcome: 'input' | 'output'; readonly input: string }
    | { readonly outcome: 'skip' }
    | { readonly outcome: 'map'; readonly items: readonly { readonly key: string; readonly input: string }[] }
  )

export interface RecordedStep {
  readonly name: string
  readonly state: string
  readonly due: boolean
  /** Of a called action its node. */
  readonly ordinal: number | null
  readonly output: string | null
  readonly error: string | null
}

/** The record of a named step of code. */
export interface StepRecord {
  readonly runId: string
  readonly leaseId: string
  readonly name: string
  readonly output: string
}
