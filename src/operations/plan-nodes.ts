// Freezes what a planner computed for ready nodes: an input, a skip, the items of a map, or the run's output.
import type { Executor } from '../db/executor.ts'
import type { NodePlan } from '../protocol/run.ts'
import { nodeLines } from './node-lines.ts'

const PLAN =
  'select * from lockstep.plan_joined($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[])'

/** True where the token held. */
export async function planNodes(db: Executor, plans: readonly NodePlan[]): Promise<readonly boolean[]> {
  if (plans.length === 0) return []
  const items = plans.flatMap((plan, at) =>
    plan.outcome === 'map' ? plan.items.map((item) => ({ of: (at + 1).toString(), ...item })) : [],
  )
  const rows = await db.rows(PLAN, [
    ...nodeLines(plans),
    plans.map((plan) => plan.outcome),
    plans.map((plan) => ('input' in plan ? plan.input : null)),
    items.map((item) => item.of),
    items.map((item) => item.key),
    items.map((item) => item.input),
  ])
  const held = new Array<boolean>(plans.length).fill(false)
  for (const [nth, verdict] of rows) held[Number(nth) - 1] = verdict === 'ok'
  return held
}
