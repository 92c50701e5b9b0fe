// A graph as it is registered: names, edges, policies; no code. Its version is a hash of that shape, so two processes with the
// same graph agree without asking, and a changed graph is another version.
import type { GraphNode } from './definition.ts'

/** FNV-1a over two lanes, 64 bits in hex: enough to tell shapes apart, and the same in a browser. */
function hashOf(text: string): string {
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193) >>> 0
    high = Math.imul(high ^ (code + at), 0x01000193) >>> 0
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

export interface Shaped {
  readonly shape: string
  readonly version: string
}

export function shapeOf(nodes: readonly GraphNode[], hasOutput: boolean, keep: object): Shaped {
  const ordinals = new Map(nodes.map((node, index) => [node.name, index + 1]))
  const ordinalOf = (name: string): number => ordinals.get(name) ?? 0
  const rows = nodes.map((node) => {
    const children = nodes.filter((one) => one.after.includes(node.name)).map((one) => ordinalOf(one.name))
    const { policy } = node.action
    const max = node.limit ?? policy.limit?.max ?? null
    const limited = policy.limit !== null || node.limit !== null
    return {
      name: node.name,
      action: node.action.name,
      kind: node.kind,
      after: node.after.map(ordinalOf),
      children: children.length === 0 ? [0] : children,
      onFailure: node.onFailure,
      ...(node.compensate === null ? {} : { compensate: node.compensate.name }),
      maxAttempts: policy.maxAttempts,
      backoffMs: policy.backoffMs,
      backoffMaxMs: policy.backoffMaxMs,
      ...(limited ? { limitKey: node.limit === null ? '' : `node:${node.name}` } : {}),
      ...(max === null ? {} : { limitMax: max }),
      ...(policy.limit?.intervalMs == null ? {} : { limitIntervalMs: policy.limit.intervalMs }),
    }
  })
  const sinks = rows.filter((row) => row.children.includes(0)).length
  const shape = { output: hasOutput, sinks, nodes: rows }
  return { shape: JSON.stringify({ ...shape, ...keep }), version: hashOf(JSON.stringify(shape)) }
}
