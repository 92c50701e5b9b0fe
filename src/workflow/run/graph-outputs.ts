// The result of a graph without an output function: what each node brought, by name; of a map a record by key. A node that
// was skipped is absent, a map that was skipped empty.
import type { ShownNode } from '../../protocol/run.ts'

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

export function settledItem(ok: boolean, onFailure: string, output: string | null, error: string | null): unknown {
  if (onFailure === 'fail') return parsed(output)
  return ok ? { ok: true, value: parsed(output) } : { ok: false, error: parsed(error) }
}

export function graphOutputs(nodes: readonly ShownNode[]): Readonly<Record<string, unknown>> {
  const outputs: Record<string, unknown> = {}
  for (const node of nodes) {
    if (node.kind === 'map' && (node.state === 'done' || node.state === 'skipped')) {
      const items = nodes.filter(
        (item) => item.itemOf === node.ordinal && (item.state === 'done' || item.state === 'failed'),
      )
      outputs[node.name] = Object.fromEntries(
        items.map((item) => [
          item.itemKey ?? '',
          settledItem(item.state === 'done', item.onFailure, item.output, item.error),
        ]),
      )
    } else if (node.kind === 'node' && node.state === 'done') outputs[node.name] = parsed(node.output)
  }
  return outputs
}
