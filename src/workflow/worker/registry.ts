// What a worker knows: its actions, graphs by version and code, and so what it may claim. Also what it tells the database of
// them, so that SQL, HTTP and people know a workflow without its code.
import type { Executor } from '../../db/executor.ts'
import { registerWorkflow } from '../../operations/register-workflow.ts'
import { LockstepError } from '../../protocol/errors.ts'
import {
  definitionIn,
  type ActionDefinition,
  type CodeDefinition,
  type Defined,
  type Definition,
  type GraphDefinition,
} from '../define/definition.ts'

export interface Registry {
  readonly wants: readonly string[]
  action(name: string): ActionDefinition | null
  /** By `flow:<name>[@<version>]`. */
  code(want: string): CodeDefinition | null
  graph(name: string, version: string | null): GraphDefinition | null
  /** Whether this worker would claim it. */
  serves(action: ActionDefinition): boolean
  register(db: Executor): Promise<void>
  /** What this worker does, as it is registered. */
  readonly served: readonly { readonly name: string; readonly version: string }[]
}

function flowWant(code: CodeDefinition): string {
  return `flow:${code.name}${code.version === '' ? '' : `@${code.version}`}`
}

function shapeOf(definition: ActionDefinition | CodeDefinition): string {
  const { policy } = definition
  return JSON.stringify({
    maxAttempts: policy.maxAttempts,
    backoffMs: policy.backoffMs,
    backoffMaxMs: policy.backoffMaxMs,
    ...(policy.priority === 0 ? {} : { priority: policy.priority }),
    ...(policy.limit === null ? {} : { limitKey: '' }),
    ...(policy.limit?.max == null ? {} : { limitMax: policy.limit.max }),
    ...(policy.limit?.intervalMs == null ? {} : { limitIntervalMs: policy.limit.intervalMs }),
    ...(policy.keepMs === null ? {} : { keepMs: policy.keepMs }),
    ...(policy.keepFailedMs === null ? {} : { keepFailedMs: policy.keepFailedMs }),
  })
}

export function createRegistry(given: readonly Defined[], queues: ReadonlySet<string>): Registry {
  const actions = new Map<string, ActionDefinition>()
  const codes = new Map<string, CodeDefinition>()
  const graphs = new Map<string, GraphDefinition>()

  function addAction(action: ActionDefinition): void {
    const known = actions.get(action.name)
    if (known !== undefined && known !== action) {
      throw new LockstepError('bad_request', `two actions are called '${action.name}'`)
    }
    actions.set(action.name, action)
  }

  /** Another under the same name and version would silently take its place, or its runs. */
  function demandOne(known: Definition | undefined, definition: CodeDefinition | GraphDefinition): void {
    if (known !== undefined && known !== definition) {
      throw new LockstepError('bad_request', `two workflows of one version are called '${definition.name}'`)
    }
  }

  function add(definition: Definition): void {
    if (definition.kind === 'action') addAction(definition)
    else if (definition.kind === 'code') {
      demandOne(codes.get(flowWant(definition)), definition)
      codes.set(flowWant(definition), definition)
    } else {
      const key = `${definition.name}@${definition.version}`
      demandOne(graphs.get(key), definition)
      graphs.set(key, definition)
      for (const node of definition.nodes) {
        addAction(node.action)
        if (node.compensate !== null) addAction(node.compensate)
      }
    }
  }

  for (const one of given) add(definitionIn(one))
  for (const { name } of [...codes.values(), ...graphs.values()]) {
    if (actions.has(name)) throw new LockstepError('bad_request', `an action and a workflow are called '${name}'`)
  }
  const served = [...actions.values()].filter((action) => queues.has(action.queue))
  // Planning first: it makes work for others.
  const wants = [
    ...[...graphs.keys()].map((key) => `plan:${key}`),
    ...codes.keys(),
    ...served.map((action) => action.name),
  ]

  return {
    wants,
    action: (name) => actions.get(name) ?? null,
    code: (want) => codes.get(want) ?? null,
    graph: (name, version) => graphs.get(`${name}@${version ?? ''}`) ?? null,
    serves: (action) => queues.has(action.queue) && actions.get(action.name) === action,
    served: [
      ...served.map(({ name }) => ({ name, version: '' })),
      ...[...codes.values(), ...graphs.values()].map(({ name, version }) => ({ name, version })),
    ],
    async register(db) {
      for (const action of actions.values()) await registerWorkflow(db, action.name, '', 'action', shapeOf(action))
      for (const code of codes.values()) await registerWorkflow(db, code.name, code.version, 'code', shapeOf(code))
      for (const graph of graphs.values()) await registerWorkflow(db, graph.name, graph.version, 'graph', graph.shape)
    },
  }
}
