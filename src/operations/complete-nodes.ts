// Complete: ends many nodes that wrote nothing of their own in one commit, each fenced by its token.
import type { Executor } from '../db/executor.ts'
import type { Completed, NodeCompletion } from '../protocol/run.ts'
import { nodeLines } from './node-lines.ts'

const COMPLETE =
  'select * from lockstep.complete_joined($1::uuid[], $2::int[], $3::text[], $4::text[], $5::int[], $6::int[], $7::text[], $8::boolean[], $9, $10::bigint)'

const COMPLETE_RUNS = 'select lockstep.complete_runs_joined($1::uuid[], $2::text[], $3::text[])'

const ENDED: Completed = { ok: true, ready: [], taken: [], ended: true }
const NOT_ANSWERED: Completed = { ok: false, ready: [], taken: [], ended: false }

function ordinals(text: string | null | undefined): readonly number[] {
  return text === null || text === undefined || text.length <= 2 ? [] : text.slice(1, -1).split(',').map(Number)
}

async function completeRuns(db: Executor, nodes: readonly NodeCompletion[]): Promise<readonly Completed[]> {
  const [row] = await db.rows(COMPLETE_RUNS, [
    nodes.map((node) => node.runId),
    nodes.map((node) => node.leaseId),
    nodes.map((node) => node.output),
  ])
  if (row === undefined) return nodes.map(() => NOT_ANSWERED)
  const lost = new Set(ordinals(row[0]))
  return nodes.map((_, at) => (lost.has(at + 1) ? NOT_ANSWERED : ENDED))
}

/** Successors that are taken get this token. */
export async function completeNodes(
  db: Executor,
  nodes: readonly NodeCompletion[],
  take: { readonly leaseId: string; readonly leaseMs: number },
): Promise<readonly Completed[]> {
  if (nodes.length === 0) return []
  if (nodes.every((node) => node.ordinal === 0)) return completeRuns(db, nodes)
  const plans = nodes.flatMap((node, at) => node.plans.map((plan) => ({ of: (at + 1).toString(), ...plan })))
  const rows = await db.rows(COMPLETE, [
    ...nodeLines(nodes),
    nodes.map((node) => node.output),
    plans.map((plan) => plan.of),
    plans.map((plan) => plan.ordinal.toString()),
    plans.map((plan) => plan.input),
    plans.map((plan) => plan.take.toString()),
    take.leaseId,
    take.leaseMs.toString(),
  ])
  const results = nodes.map((): Completed => NOT_ANSWERED)
  for (const [nth, verdict, ready, taken, ended] of rows) {
    results[Number(nth) - 1] = {
      ok: verdict === 'ok',
      ready: ordinals(ready),
      taken: ordinals(taken),
      ended: ended === 't',
    }
  }
  return results
}
