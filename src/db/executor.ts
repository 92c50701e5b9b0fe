// The one interface through which operations reach PostgreSQL: a pool, a connection of ours inside a transaction, or
// (through a door) the caller's own transaction. Every value crosses as text, so that no driver can re-read or round one.
import type { Vault } from '../protocol/vault.ts'

/** A parameter: text, a text array, or null. Numbers and instants are sent as text and cast in SQL. */
export type Param = string | null | readonly (string | null)[]

/** One row: every column as PostgreSQL's text form. */
export type Row = readonly (string | null)[]

/** Runs statements. Each call is one round trip; a pool's executor commits each statement by itself. */
export interface Executor {
  rows(statement: string, params: readonly Param[]): Promise<readonly Row[]>
  /** The process's keys for payloads at rest; absent when it has none. */
  readonly vault?: Vault | undefined
}

export type { Door } from '../protocol/completion.ts'
