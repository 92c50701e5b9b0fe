// Claimed nodes that wait for a handler's place, in their order; what a completion took goes before them. Taking one out costs
// the same however many wait.
import type { ClaimedNode } from '../../protocol/run.ts'

export interface NodeLine {
  put(nodes: readonly ClaimedNode[]): void
  /** Before all that wait, behind what was put first earlier. */
  putFirst(nodes: readonly ClaimedNode[]): void
  next(): ClaimedNode | null
  /** Takes all. */
  empty(): readonly ClaimedNode[]
  readonly size: number
}

interface Row {
  nodes: ClaimedNode[]
  at: number
}

function append(row: Row, nodes: readonly ClaimedNode[]): void {
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

export function createNodeLine(): NodeLine {
  const first: Row = { nodes: [], at: 0 }
  const others: Row = { nodes: [], at: 0 }
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
