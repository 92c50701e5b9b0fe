// The successor that a completion took for the worker that completed, as if it had been claimed. Null when this process has not
// what is needed to run it: then its lease lapses.
import type { ClaimedNode, NodeCompletion } from '../../protocol/run.ts'
import type { Registry } from './registry.ts'

export function takenNode(
  registry: Registry,
  node: ClaimedNode,
  plans: NodeCompletion['plans'],
  ordinal: number,
  leaseId: string,
): ClaimedNode | null {
  const successor = registry.graph(node.workflow, node.version)?.nodes[ordinal - 1]
  const input = plans.find((plan) => plan.ordinal === ordinal)?.input
  if (successor === undefined || input === undefined) return null
  return {
    runId: node.runId,
    ordinal,
    leaseId,
    name: successor.name,
    want: successor.action.name,
    attempt: 1,
    input,
    workflow: node.workflow,
    version: node.version,
    runInput: node.runInput,
    maxAttempts: successor.action.policy.maxAttempts,
    failures: 0,
    fresh: true,
    occurrence: node.occurrence,
  }
}
