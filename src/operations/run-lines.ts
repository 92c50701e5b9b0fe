// Flattens submissions into the parallel columns of lockstep.submit_joined and submit_in. Runs no statement.
import { arrayLiteral } from '../db/array-literal.ts'
import type { OutgoingRun } from '../protocol/run.ts'

type Column = readonly (string | null)[]

const numbers = (runs: readonly OutgoingRun[], of: (run: OutgoingRun) => number | null): Column =>
  runs.map((run) => of(run)?.toString() ?? null)

export function runLines(runs: readonly OutgoingRun[]): readonly Column[] {
  const none: Column = runs.map(() => null)
  const planned = runs.flatMap((run) => run.plans.map((plan) => ({ runId: run.runId, ...plan })))
  return [
    runs.map((run) => run.runId),
    runs.map((run) => run.workflow),
    runs.map((run) => run.kind),
    runs.map((run) => run.version),
    runs.map((run) => run.shape),
    runs.map((run) => run.key),
    runs.map((run) => run.input),
    numbers(runs, (run) => run.priority),
    numbers(runs, (run) => run.delayMs),
    runs.map((run) => (run.tags === null ? null : arrayLiteral(run.tags))),
    numbers(runs, (run) => run.deadlineMs),
    numbers(runs, (run) => run.maxAttempts),
    numbers(runs, (run) => run.backoffMs),
    numbers(runs, (run) => run.backoffMaxMs),
    runs.map((run) => run.limitKey),
    numbers(runs, (run) => run.limitMax),
    numbers(runs, (run) => run.limitIntervalMs),
    none,
    none,
    planned.map((plan) => plan.runId),
    planned.map((plan) => plan.ordinal.toString()),
    planned.map((plan) => plan.input),
  ]
}
