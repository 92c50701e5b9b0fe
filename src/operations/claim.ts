// Claim: leases due nodes of the wanted kinds under one token.
import type { Executor } from '../db/executor.ts'
import type { ClaimedNode } from '../protocol/run.ts'

export interface ClaimRequest {
  /** Names of actions, `plan:<workflow>@<version>`, `flow:<workflow>`. */
  readonly wants: readonly string[]
  /** Minted by the caller. */
  readonly leaseId: string
  readonly leaseMs: number
  readonly max: number
  /** From the last claim of the same wants; null looks from the beginning. */
  readonly floor: string | null
}

export interface ClaimOutcome {
  readonly nodes: readonly ClaimedNode[]
  readonly floor: string | null
  /** When the next of what waits here is due; a hint. */
  readonly dueInMs: number | null
}

const CLAIM =
  "select * from lockstep.claim_joined($1::text[], $2, $3::bigint, $4::int, coalesce($5::timestamptz, '-infinity'))"

export async function claim(db: Executor, request: ClaimRequest): Promise<ClaimOutcome> {
  const { wants, leaseId, leaseMs, max, floor } = request
  const rows = await db.rows(CLAIM, [wants, leaseId, leaseMs.toString(), max.toString(), floor])
  const head = rows.at(-1)
  const nodes = rows
    .slice(0, -1)
    .map(
      ([
        runId,
        ordinal,
        name,
        want,
        attempt,
        input,
        workflow,
        version,
        runInput,
        maxAttempts,
        failures,
        fresh,
        occurrence,
      ]): ClaimedNode => ({
        runId: runId ?? '',
        ordinal: Number(ordinal),
        leaseId,
        name: name ?? '',
        want: want ?? '',
        attempt: Number(attempt),
        input: input ?? null,
        workflow: workflow ?? '',
        version: version ?? null,
        runInput: runInput ?? null,
        maxAttempts: Number(maxAttempts),
        failures: Number(failures),
        fresh: fresh === 't',
        occurrence: occurrence ?? null,
      }),
    )
  const due = head?.[4] ?? null
  return { nodes, floor: head?.[5] ?? null, dueInMs: due === null ? null : Number(due) }
}
