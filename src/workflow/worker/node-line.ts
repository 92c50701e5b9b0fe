// Claimed nodes that wait for a handler's place, in their order; what a completion took goes before them. Taking one out costs
// the same however many wait.
export interface NodeLine<T> {
  put(nodes: readonly T[]): void
  /** Before all that wait, behind what was put first earlier. */
  putFirst(nodes: readonly T[]): void
  next(): T | null
  /** Takes all. */
  empty(): readonly T[]
  readonly size: number
}

interface Row<T> {
  nodes: T[]
  at: number
}

function append<T>(row: Row<T>, nodes: readonly T[]): void {
  if (row.at === row.nodes.length) {
    row.nodes = [...nodes]
    row.at = 0
    return
  }
  // Those that have left go once they are the greater part.
  if (row.at * 2 > row.nodes.length) {
    row.nodes = row.nodes.slice(row.at)
    row.at = 0
  }
  for (const node of nodes) row.nodes.push(node)
}

export function createNodeLine<T>(): NodeLine<T> {
  const first: Row<T> = { nodes: [], at: 0 }
  const others: Row<T> = { nodes: [], at: 0 }
  return {
    put: (nodes) => append(others, nodes),
    putFirst: (nodes) => append(first, nodes),
    next() {
      const row = first.at < first.nodes.length ? first : others
      const node = row.nodes[row.at]
      if (node === undefined) return null
      row.at += 1
      return node
    },
    empty() {
      const left = [...first.nodes.slice(first.at), ...others.nodes.slice(others.at)]
      first.nodes = []
      first.at = 0
      others.nodes = []
      others.at = 0
      return left
    },
    get size() {
      return first.nodes.length - first.at + others.nodes.length - others.at
    },
  }
}
