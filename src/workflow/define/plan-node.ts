// Runs the pure functions of a graph's node: `when`, `input`, `map`. What they give is frozen as text; a throw, an input that
// its action's schema refuses or a value that JSON would change fails the node, naming the function. No I/O of its own.
import { root, text as boundedText } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { jsonText } from '../../protocol/json-text.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { checkValueSoon, issuesText, type Checked } from '../../protocol/standard-schema.ts'
import { utf8Length } from '../../protocol/utf8.ts'
import type { Definition, GraphDefinition, GraphNode, Givens } from './definition.ts'
import { PermanentError } from './failures.ts'

export interface PlannedItem {
  readonly key: string
  readonly input: string
}

export type PlannedNode =
  | { readonly outcome: 'input'; readonly input: string }
  | { readonly outcome: 'skip' }
  | { readonly outcome: 'map'; readonly items: readonly PlannedItem[] }

/** JSON text within the limit of inputs and outputs. */
export function runText(value: unknown, what: string): string {
  const text = jsonText(value === undefined ? null : value, what)
  if (text.length * 3 > LIMITS.runValueBytes && utf8Length(text) > LIMITS.runValueBytes) {
    throw new LockstepError('payload_too_large', `${what} must be at most ${LIMITS.runValueBytes} bytes of JSON`)
  }
  return text
}

function accepted(definition: Definition, checked: Checked<unknown>, what: string): unknown {
  if (checked.valid) return checked.value
  const { issues } = checked
  const text = issuesText(issues).replaceAll(/(^|; )data/g, `$1${what}`)
  throw new LockstepError(
    'invalid_payload',
    `${definition.kind === 'action' ? 'action' : 'workflow'} '${definition.name}': ${text}`,
    { issues },
  )
}

/** The value as its schema gives it back, a promise of it only where the schema gives one; a refusal names the paths. */
export function checkedInputSoon(definition: Definition, value: unknown, what = 'input'): unknown {
  const checked = checkValueSoon(definition.schema, value)
  return checked instanceof Promise
    ? checked.then((late) => accepted(definition, late, what))
    : accepted(definition, checked, what)
}

export async function checkedInput(definition: Definition, value: unknown, what = 'input'): Promise<unknown> {
  return checkedInputSoon(definition, value, what)
}

async function called<T>(graph: GraphDefinition, node: GraphNode, which: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new PermanentError(
      `the ${which} function of node '${node.name}' of workflow '${graph.name}' failed: ${why}`,
      { cause: error },
    )
  }
}

const keyField = boundedText({ min: 1, max: LIMITS.nameBytes })

function keyOf(node: GraphNode, key: unknown): string {
  try {
    return keyField.read(key, root(), 'key')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new PermanentError(`an item of the map function of node '${node.name}': ${why}`, { cause: error })
  }
}

function isItem(value: unknown): value is { readonly key?: unknown; readonly input: unknown } {
  return typeof value === 'object' && value !== null && 'input' in value
}

async function items(graph: GraphDefinition, node: GraphNode, listed: unknown): Promise<readonly PlannedItem[]> {
  if (
    typeof listed !== 'object' ||
    listed === null ||
    !(Symbol.iterator in listed) ||
    typeof listed[Symbol.iterator] !== 'function'
  ) {
    throw new PermanentError(`the map function of node '${node.name}' must give a list of { key, input }`)
  }
  const planned: PlannedItem[] = []
  const keys = new Set<string>()
  // What an iterable gives is unknown until each is looked at.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  for (const item of listed as Iterable<unknown>) {
    if (!isItem(item))
      throw new PermanentError(`the map function of node '${node.name}' must give { key, input } items`)
    const key = item.key === undefined ? String(planned.length) : keyOf(node, item.key)
    if (keys.has(key)) throw new PermanentError(`the map function of node '${node.name}' gave the key '${key}' twice`)
    if (planned.length >= LIMITS.mapItems)
      throw new PermanentError(`node '${node.name}' maps more than ${LIMITS.mapItems} items`)
    keys.add(key)
    const what = `${node.name}[${key}]`
    await called(graph, node, 'map', async () => checkedInput(node.action, item.input, what))
    planned.push({ key, input: runText(item.input, what) })
  }
  return planned
}

/** Rejects with what fails the node for good. */
export async function planNode(graph: GraphDefinition, node: GraphNode, givens: Givens): Promise<PlannedNode> {
  const { when } = node
  if (when !== null && !(await called(graph, node, 'when', () => when(givens)))) return { outcome: 'skip' }
  if (node.kind === 'map') {
    return {
      outcome: 'map',
      items: await items(graph, node, await called(graph, node, 'map', () => node.input(givens))),
    }
  }
  return called(graph, node, 'input', async () => {
    const value = await node.input(givens)
    await checkedInput(node.action, value)
    return { outcome: 'input' as const, input: runText(value, 'input') }
  })
}
