// The completion of one node as the last statement of the transaction that holds its handler's own writes. Raises
// `lease_lost` when the token no longer holds, so that the COMMIT behind it becomes a rollback.
import { arrayLiteral } from '../db/array-literal.ts'
import type { Door } from '../db/executor.ts'
import type { Command } from '../db/round-trip.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { Completed, NodeCompletion } from '../protocol/run.ts'

const COMPLETE =
  'select lockstep.complete($1::text::uuid, $2::text::int, $3::text, $4::text, $5::text::int[], $6::text::text[], $7::text::boolean[], $8::text, $9::text::bigint)::text as r'

interface Take {
  readonly leaseId: string
  readonly leaseMs: number
}

function paramsOf(node: NodeCompletion, take: Take): readonly string[] {
  return [
    node.runId,
    node.ordinal.toString(),
    node.leaseId,
    node.output,
    arrayLiteral(node.plans.map((plan) => plan.ordinal.toString())),
    arrayLiteral(node.plans.map((plan) => plan.input)),
    arrayLiteral(node.plans.map((plan) => plan.take.toString())),
    take.leaseId,
    take.leaseMs.toString(),
  ]
}

/** For a connection of ours: travels in one message with its COMMIT. */
export function completeCommand(node: NodeCompletion, take: Take): Command {
  return { text: COMPLETE, params: paramsOf(node, take) }
}

export async function completeIn(door: Door, node: NodeCompletion, take: Take): Promise<Completed> {
  return completedOf(await door.text(COMPLETE, paramsOf(node, take)))
}

export function completedOf(text: string | null | undefined): Completed {
  if (text === null || text === undefined) throw new LockstepError('internal', 'a completion answered nothing')
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ok: true, ...(JSON.parse(text) as Omit<Completed, 'ok'>) }
}
