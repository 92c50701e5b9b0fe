// What an adapter gives so that a step completes inside a library's own transaction: how that library opens one, and how a
// statement of ours goes through it. Types only; no state.

/** One statement with text parameters, one row, one text column: what every library can carry unchanged. */
export interface CompletionDoor {
  text(statement: string, params: readonly string[]): Promise<string | null>
}

export interface Completion<Tx> {
  /** Its name, for messages. */
  readonly library: string
  /** The library's own callback transaction: it opens before the body and commits after it. */
  transaction<R>(body: (tx: Tx) => Promise<R>): Promise<R>
  door(tx: Tx): CompletionDoor
  /** Sends what a unit-of-work library still holds back; called before the completion's statement. */
  flush?(tx: Tx): Promise<void>
}
