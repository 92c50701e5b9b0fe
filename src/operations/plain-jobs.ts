// Tells whether runs are plain jobs of one action and one policy, the commonest submission, for which there are functions of fewer
// parts; and gives what those take. It decides by what each run holds, never by who sent it.
import type { OutgoingRun } from '../protocol/run.ts'

export interface PlainJobs {
  readonly action: string
  /** Priority, delay, attempts, backoff and its most. */
  readonly policy: readonly string[]
}

function isPlain(run: OutgoingRun): boolean {
  return (
    run.kind === 'action' && run.key === null && run.tags === null && run.deadlineMs === null && run.limitKey === null
  )
}

/** Null when one of them has more than its input and its action's policy, or when they differ. */
export function plainJobs(runs: readonly OutgoingRun[]): PlainJobs | null {
  const [first] = runs
  if (first === undefined) return null
  const { workflow, priority, delayMs, maxAttempts, backoffMs, backoffMaxMs } = first
  if (maxAttempts === null || backoffMs === null || backoffMaxMs === null) return null
  for (const run of runs) {
    const same =
      run.workflow === workflow &&
      run.priority === priority &&
      run.delayMs === delayMs &&
      run.maxAttempts === maxAttempts &&
      run.backoffMs === backoffMs &&
      run.backoffMaxMs === backoffMaxMs
    if (!same || !isPlain(run)) return null
  }
  return {
    action: workflow,
    policy: [priority ?? 0, delayMs ?? 0, maxAttempts, backoffMs, backoffMaxMs].map(String),
  }
}
