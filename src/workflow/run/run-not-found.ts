// The answer of a handle whose run is not there: at once, never a wait for something that may never come.
import { LockstepError } from '../../protocol/errors.ts'
import type { MissingReason } from '../../protocol/run.ts'

const WHY: Readonly<Record<MissingReason, string>> = {
  uncommitted: 'the transaction that submitted this run is still open: commit it, then wait',
  rolled_back: 'the transaction that submitted this run was rolled back',
  unknown: 'there is no such run',
}

export class RunNotFoundError extends LockstepError {
  override readonly name = 'RunNotFoundError'
  readonly runId: string
  /** uncommitted: the submitting transaction is open. rolled_back: it was undone. unknown: no run is known by this id. */
  readonly reason: MissingReason

  constructor(runId: string, reason: MissingReason) {
    super('run_not_found', `run ${runId}: ${WHY[reason]}`, { runId, reason })
    this.runId = runId
    this.reason = reason
  }
}
