// Plans, at the end of a node, the successors that hang on it alone: their inputs are computed here and frozen by the same
// commit. The first that this worker can run is taken at once. What throws is left to a planner, which fails it by name.
import type { ClaimedNode, NodeCompletion } from '../../protocol/run.ts'
import type { GraphDefinition, GraphNode } from '../define/definition.ts'
import { planNode } from '../define/plan-node.ts'
import type { WorkerParts } from './worker-parts.ts'

type Plans = NodeCompletion['plans']

const NONE: Plans = []
const successors = new WeakMap<GraphDefinition, Map<string, readonly (readonly [number, GraphNode])[]>>()

/** By predecessor: the plain nodes that have no other. */
function successorsIn(graph: GraphDefinition, name: string): readonly (readonly [number, GraphNode])[] {
  let known = successors.get(graph)
  if (known === undefined) {
    const byName = new Map<string, (readonly [number, GraphNode])[]>()
    for (const [index, node] of graph.nodes.entries()) {
      const [only, ...others] = node.after
      if (only === undefined || others.length > 0 || node.kind === 'map') continue
      byName.set(only, [...(byName.get(only) ?? []), [index + 1, node]])
    }
    known = byName
    successors.set(graph, known)
  }
  return known.get(name) ?? []
}

export async function planSuccessors(parts: WorkerParts, node: ClaimedNode, output: string): Promise<Plans> {
  if (node.ordinal === 0) return NONE
  const graph = parts.registry.graph(node.workflow, node.version)
  const own = graph?.nodes[node.ordinal - 1]
  // A map's successors need all its items.
  if (graph === null || own === undefined || own.kind === 'map') return NONE
  const next = successorsIn(graph, own.name)
  if (next.length === 0) return NONE
  const plans: { ordinal: number; input: string; take: boolean }[] = []
  let taking = !parts.stopping()
  for (const [ordinal, successor] of next) {
    try {
      const givens = {
        input: node.runInput === null ? null : JSON.parse(node.runInput),
        outputs: { [own.name]: JSON.parse(output) },
      }
      const planned = await planNode(graph, successor, givens)
      if (planned.outcome !== 'input') continue
      const limited = successor.limit !== null || successor.action.policy.limit !== null
      const take = taking && !limited && parts.registry.serves(successor.action)
      if (take) taking = false
      plans.push({ ordinal, input: planned.input, take })
    } catch {
      // The planner meets the same fault and writes it down.
    }
  }
  return plans
}
