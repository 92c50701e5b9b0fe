// Plans claimed nodes whose predecessors have settled: reads what those brought in one statement, runs the pure functions, and
// freezes all results in one commit, each fenced alone. A run's output function is planned the same way at its end.
import { planGivens, type GivenOutput } from '../../operations/plan-givens.ts'
import { planNodes } from '../../operations/plan-nodes.ts'
import type { ClaimedNode, NodePlan } from '../../protocol/run.ts'
import type { GraphDefinition } from '../define/definition.ts'
import { PermanentError } from '../define/failures.ts'
import { checkedInput, planNode, runText } from '../define/plan-node.ts'
import { settledItem } from '../run/graph-outputs.ts'
import { untilLeaseEnds } from './ends.ts'
import type { Held } from './held-nodes.ts'
import { fail } from './run-action.ts'
import type { WorkerParts } from './worker-parts.ts'

interface Wanted {
  readonly held: Held
  readonly graph: GraphDefinition
  /** Names of the nodes whose outputs its functions are given. */
  readonly names: readonly string[]
}

function wantedOf(parts: WorkerParts, held: Held): Wanted | null {
  const { node } = held
  const graph = parts.registry.graph(node.workflow, node.version)
  if (graph === null) return null
  const own = graph.nodes[node.ordinal - 1]
  if (node.ordinal > 0 && own === undefined) return null
  return { held, graph, names: own === undefined ? graph.nodes.map((one) => one.name) : own.after }
}

function ordinalIn(graph: GraphDefinition, name: string): number {
  return graph.nodes.findIndex((node) => node.name === name) + 1
}

function outputsFor(wanted: Wanted, given: readonly (readonly GivenOutput[])[]): Record<string, unknown> {
  const outputs: Record<string, unknown> = {}
  for (const [index, name] of wanted.names.entries()) {
    const rows = given[index] ?? []
    const node = wanted.graph.nodes[ordinalIn(wanted.graph, name) - 1]
    if (node?.kind === 'map') {
      outputs[name] = Object.fromEntries(
        rows.flatMap((row) =>
          row.itemKey === null ? [] : [[row.itemKey, settledItem(row.ok, node.onFailure, row.output, row.error)]],
        ),
      )
    } else {
      const [row] = rows
      outputs[name] = row?.ok === true && row.output !== null ? JSON.parse(row.output) : undefined
    }
  }
  return outputs
}

async function planned(wanted: Wanted, outputs: Record<string, unknown>): Promise<NodePlan> {
  const { graph, held } = wanted
  const { node } = held
  const text = node.ordinal === 0 ? node.input : node.runInput
  const input: unknown = text === null ? null : JSON.parse(text)
  const lease = { runId: node.runId, ordinal: node.ordinal, leaseId: node.leaseId }
  const own = graph.nodes[node.ordinal - 1]
  if (own === undefined) {
    try {
      return { ...lease, outcome: 'output', input: runText(await graph.output?.({ input, outputs }), 'output') }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new PermanentError(`the output function of workflow '${graph.name}' failed: ${why}`, { cause: error })
    }
  }
  // A run that came by SQL or HTTP has passed no schema yet.
  if (own.after.length === 0) {
    await checkedInput(graph, input, "the run's input").catch((error: unknown) => {
      throw new PermanentError(error instanceof Error ? error.message : String(error), { cause: error })
    })
  }
  return { ...lease, ...(await planNode(graph, own, { input, outputs })) }
}

export async function planBatch(parts: WorkerParts, held: readonly Held[]): Promise<void> {
  const wanted = held.flatMap((one) => wantedOf(parts, one) ?? [])
  const unknown = held.filter((one) => !wanted.some((known) => known.held === one))
  if (unknown.length > 0) await parts.ends.handBack(unknown.map((one) => one.node))
  const asked = wanted.flatMap((one) =>
    one.names.map((name) => ({ runId: one.held.node.runId, ordinal: ordinalIn(one.graph, name) })),
  )
  const until = Math.min(...wanted.map((one) => one.held.leaseUntil))
  const rows = await untilLeaseEnds(
    () => until,
    () => planGivens(parts.database.reader, asked),
  )
  const byAsked = asked.map((): GivenOutput[] => [])
  for (const row of rows) byAsked[row.at]?.push(row)
  const plans: NodePlan[] = []
  let at = 0
  for (const one of wanted) {
    const given = byAsked.slice(at, (at += one.names.length))
    try {
      plans.push(await planned(one, outputsFor(one, given)))
    } catch (error) {
      await fail(parts, one.held, error)
    }
  }
  await untilLeaseEnds(
    () => until,
    () => planNodes(parts.database, plans),
  )
  const nodes: readonly ClaimedNode[] = wanted.map((one) => one.held.node)
  for (const node of nodes) parts.settled(node, node.ordinal === 0, node.ordinal > 0)
}
