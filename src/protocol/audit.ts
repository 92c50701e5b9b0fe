// The audit as data: who did what that cannot be undone, and what came of it.

export interface AuditRow {
  readonly id: string
  readonly at: string
  /** The subject of the caller's token, or the user of a command; null: whoever used the database role. */
  readonly actor: string | null
  readonly dbRole: string
  readonly action: string
  /** JSON text: what the call named. */
  readonly target: string
  /** JSON text: what came of it. */
  readonly outcome: string
  readonly requestId: string | null
}

/** Null matches all. Instants are ISO-8601 text; `from` is inclusive, `to` is not. */
export interface AuditFilter {
  readonly action: string | null
  readonly actor: string | null
  readonly from: string | null
  readonly to: string | null
  readonly limit: number
  /** The id of the last row of the page before. */
  readonly before: string | null
}
