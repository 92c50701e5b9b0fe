// Builds a declared graph node by node; every call gives a new graph and leaves the old one as it was. A predecessor must be
// declared before, so a cycle cannot be written. Pure.
import { integer, oneOf, optional, root } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import { definedName, type Action } from './action.ts'
import {
  DEFINITION,
  definitionIn,
  type ActionDefinition,
  type GraphDefinition,
  type GraphNode,
  type Givens,
} from './definition.ts'
import { demandFunction } from './demand-parts.ts'
import type { Graph, Workflow } from './graph.ts'
import { shapeOf } from './shape.ts'
import { submitVerbs } from './verbs.ts'

const mapLimit = integer(1, 1_000_000)
const failureChoice = optional(oneOf('fail', 'skip', 'continue', 'compensate'), 'fail')
const OF_NODE = ['after', 'when', 'onFailure', 'compensate']
const OF_MAP = [...OF_NODE, 'limit']

function actionIn(action: Action<string, never, unknown>, what: string): ActionDefinition {
  const definition = definitionIn(action)
  if (definition.kind === 'action') return definition
  throw new LockstepError('bad_request', `${what} must be an action; '${definition.name}' is a workflow`)
}

type Base = Omit<GraphDefinition, 'nodes' | 'output' | 'shape' | 'version'>

interface LooseOptions {
  readonly after?: readonly string[] | undefined
  readonly when?: ((givens: never) => unknown) | undefined
  readonly onFailure?: GraphNode['onFailure'] | undefined
  readonly compensate?: Action<string, never, unknown> | undefined
  readonly limit?: number | undefined
}

/** The builder without its types: what `Graph` promises is checked by the compiler where it is called. */
export interface LooseGraph extends Workflow<string, unknown, unknown> {
  node(
    id: string,
    action: Action<string, never, unknown>,
    input: (givens: never) => unknown,
    options?: LooseOptions,
  ): LooseGraph
  map(
    id: string,
    action: Action<string, never, unknown>,
    items: (givens: never) => unknown,
    options?: LooseOptions,
  ): LooseGraph
  output(of: (givens: never) => unknown): Workflow<string, unknown, unknown>
}

function loosened(work: (givens: never) => unknown): (givens: Givens) => unknown {
  // Mapping functions are called with exactly the predecessors that their types name.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return work as (givens: Givens) => unknown
}

function nodeOf(
  kind: 'node' | 'map',
  name: string,
  action: Action<string, never, unknown>,
  input: (givens: never) => unknown,
  options: LooseOptions,
  before: readonly GraphNode[],
): GraphNode {
  definedName(name, 'node name')
  // Outputs are members of plain objects, and this is none.
  if (name === '__proto__') throw new LockstepError('bad_request', `a node cannot be called '${name}'`)
  if (before.some((node) => node.name === name))
    throw new LockstepError('bad_request', `node '${name}' is declared twice`)
  if (before.length >= LIMITS.graphNodes)
    throw new LockstepError('bad_request', `a graph has at most ${LIMITS.graphNodes} nodes`)
  const after = [...new Set(options.after ?? [])]
  for (const parent of after) {
    if (!before.some((node) => node.name === parent)) {
      throw new LockstepError('bad_request', `node '${name}' comes after '${parent}', which is not declared before it`)
    }
  }
  const definition = actionIn(action, `node '${name}'`)
  onlyKnown(options, kind === 'map' ? OF_MAP : OF_NODE, `node '${name}'`)
  demandFunction(input, `the ${kind === 'map' ? 'map' : 'input'} function of node '${name}'`)
  if (options.when !== undefined) demandFunction(options.when, `when of node '${name}'`)
  if (options.limit !== undefined) {
    mapLimit.read(options.limit, root(), `limit of node '${name}'`)
    if (definition.policy.limit !== null) {
      const why = `action '${definition.name}' has a concurrency or a rate of its own, which holds for its items too`
      throw new LockstepError('bad_request', `limit of node '${name}' must be left out: ${why}`, { field: 'limit' })
    }
  }
  return {
    name,
    kind,
    action: definition,
    after,
    onFailure: failureChoice.read(options.onFailure, root(), `onFailure of node '${name}'`),
    compensate: options.compensate === undefined ? null : actionIn(options.compensate, `compensate of node '${name}'`),
    when: options.when === undefined ? null : loosened(options.when),
    input: loosened(input),
    limit: options.limit ?? null,
  }
}

function definitionFor(base: Base, nodes: readonly GraphNode[], output: GraphDefinition['output']): GraphDefinition {
  const { keepMs, keepFailedMs } = base.policy
  const keep = { ...(keepMs === null ? {} : { keepMs }), ...(keepFailedMs === null ? {} : { keepFailedMs }) }
  let shaped: { readonly shape: string; readonly version: string } | null = null
  // Made when first asked for: a builder of 200 nodes passes through 200 graphs and needs the last one's shape.
  const shapes = (): { readonly shape: string; readonly version: string } =>
    (shaped ??= shapeOf(nodes, output !== null, keep))
  return {
    ...base,
    nodes,
    output,
    get shape() {
      return shapes().shape
    },
    get version() {
      return shapes().version
    },
  }
}

function workflowOver(definition: GraphDefinition): Workflow<string, unknown, unknown> {
  const self: Workflow<string, unknown, unknown> = {
    name: definition.name,
    [DEFINITION]: definition,
    ...submitVerbs<unknown, unknown>(() => self),
  }
  return self
}

export function looseGraph(base: Base, nodes: readonly GraphNode[] = []): LooseGraph {
  const add = (node: GraphNode): LooseGraph => looseGraph(base, [...nodes, node])
  return {
    ...workflowOver(definitionFor(base, nodes, null)),
    node: (id, action, input, options = {}) => add(nodeOf('node', id, action, input, options, nodes)),
    map: (id, action, items, options = {}) => add(nodeOf('map', id, action, items, options, nodes)),
    output: (of) => workflowOver(definitionFor(base, nodes, loosened(of))),
  }
}

export function typedGraph<Name extends string, In>(base: Base): Graph<Name, In, object> {
  // The one place where the untyped builder gets its types; both have the same three verbs over the same data.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return looseGraph(base) as unknown as Graph<Name, In, object>
}
