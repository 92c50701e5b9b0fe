// The border to a library's own transaction: one statement at a time through its door, and, for completing a step, how the
// library opens and commits one. Types only; no state.
import type { Vault } from './vault.ts'

/**
 * What an adapter gives for a foreign transaction: one statement with text parameters, one row, one text column. Nothing else
 * crosses, because each library decodes numbers, instants and JSON differently.
 */
export interface Door {
  text(statement: string, params: readonly string[]): Promise<string | null>
  /** Set by the client that goes through it: its keys for payloads at rest. */
  readonly vault?: Vault | undefined
}

/** How long a transaction may stay open; for libraries that end one by themselves after a time. */
export interface OpenLimits {
  readonly timeoutMs: number
}

/** A library whose own transaction can be the one in which a step completes. */
export interface Completion<Tx> {
  /** Its name, for messages. */
  readonly library: string
  /** The library's own callback transaction: it opens before the body and commits after it. */
  transaction<R>(body: (tx: Tx) => Promise<R>, limits: OpenLimits): Promise<R>
  door(tx: Tx): Door
  /** Sends what a unit-of-work library still holds back; called before the completion's statement. */
  flush?(tx: Tx): Promise<void>
}
