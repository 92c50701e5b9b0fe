// A command line that cannot be run as it stands. It is not a fault of Lockstep: it has no code, ends with status 2 and
// always says what would be right.

export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** A command line to copy. */
  readonly hint: string

  constructor(message: string, hint = '') {
    super(message)
    this.hint = hint
  }
}
