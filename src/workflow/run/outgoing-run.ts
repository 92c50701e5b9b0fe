// From a definition and an input to a run as it travels: checked by the definition's schema, written as JSON, the nodes
// without predecessors planned at once. Sends nothing.
import { integer, list, oneOf, optional, root, text } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import type { OutgoingRun } from '../../protocol/run.ts'
import type { Definition, GraphDefinition } from '../define/definition.ts'
import { checkedInput, planNode, runText } from '../define/plan-node.ts'
import { milliseconds, type Limit } from '../define/policy.ts'
import type { SubmitOptions } from '../define/submitter.ts'

const keyText = text({ min: 1, max: LIMITS.runKeyBytes, longCode: 'name_too_long' })
const tagList = list(LIMITS.runTags, text({ min: 1, max: LIMITS.nameBytes }))
const priorityField = integer(-LIMITS.runPriority, LIMITS.runPriority)
const known = optional(oneOf('attach', 'refuse'), 'attach')

export interface RunOptions {
  readonly key: string | null
  readonly onKnownKey: 'attach' | 'refuse'
  readonly delayMs: number | null
  readonly priority: number | null
  readonly tags: readonly string[] | null
  readonly deadlineMs: number | null
}

const OPTIONS = ['key', 'onKnownKey', 'delay', 'priority', 'tags', 'deadline']

export function runOptions(options: SubmitOptions = {}): RunOptions {
  onlyKnown(options, OPTIONS, 'a submission')
  return {
    key: options.key === undefined ? null : keyText.read(options.key, root(), 'key'),
    onKnownKey: known.read(options.onKnownKey, root(), 'onKnownKey'),
    delayMs: options.delay === undefined ? null : milliseconds(options.delay, 'delay'),
    priority: options.priority === undefined ? null : priorityField.read(options.priority, root(), 'priority'),
    tags: options.tags === undefined ? null : tagList.read(options.tags, root(), 'tags'),
    deadlineMs: options.deadline === undefined ? null : milliseconds(options.deadline, 'deadline'),
  }
}

async function rootPlans(graph: GraphDefinition, input: unknown): Promise<OutgoingRun['plans']> {
  const plans: { ordinal: number; input: string }[] = []
  for (const [index, node] of graph.nodes.entries()) {
    // What may be skipped or mapped is planned by a worker, in the database's order.
    if (node.after.length > 0 || node.kind === 'map' || node.when !== null) continue
    const planned = await planNode(graph, node, { input, outputs: {} })
    if (planned.outcome === 'input') plans.push({ ordinal: index + 1, input: planned.input })
  }
  return plans
}

export function limitColumns(
  limit: Limit | null,
  input: unknown,
): Pick<OutgoingRun, 'limitKey' | 'limitMax' | 'limitIntervalMs'> {
  if (limit === null) return { limitKey: null, limitMax: null, limitIntervalMs: null }
  const limitKey = limit.keyOf === null ? '' : keyText.read(limit.keyOf(input), root(), 'limit key')
  return { limitKey, limitMax: limit.max, limitIntervalMs: limit.intervalMs }
}

/** The run of a definition that this process has. */
export async function outgoingRun(definition: Definition, input: unknown, options: RunOptions): Promise<OutgoingRun> {
  const checked = await checkedInput(definition, input)
  const { policy } = definition
  const isGraph = definition.kind === 'graph'
  if (isGraph && definition.nodes.length === 0) {
    throw new LockstepError('bad_request', `workflow '${definition.name}' has no nodes`)
  }
  return {
    runId: mintId(),
    workflow: definition.name,
    kind: definition.kind,
    version: definition.kind === 'action' ? null : definition.version,
    shape: isGraph ? definition.shape : null,
    key: options.key,
    input: runText(input, 'input'),
    priority: options.priority ?? policy.priority,
    delayMs: options.delayMs,
    tags: options.tags,
    deadlineMs: options.deadlineMs,
    maxAttempts: isGraph ? null : policy.maxAttempts,
    backoffMs: isGraph ? null : policy.backoffMs,
    backoffMaxMs: isGraph ? null : policy.backoffMaxMs,
    ...limitColumns(isGraph ? null : policy.limit, checked),
    plans: isGraph ? await rootPlans(definition, input) : [],
  }
}

/** The run of whatever is registered under a name. */
export function namedRun(workflow: string, input: unknown, options: RunOptions, kind: 'action' | null): OutgoingRun {
  return {
    runId: mintId(),
    workflow,
    kind,
    version: null,
    shape: null,
    key: options.key,
    input: runText(input, 'input'),
    priority: options.priority,
    delayMs: options.delayMs,
    tags: options.tags,
    deadlineMs: options.deadlineMs,
    maxAttempts: null,
    backoffMs: null,
    backoffMaxMs: null,
    limitKey: null,
    limitMax: null,
    limitIntervalMs: null,
    plans: [],
  }
}
