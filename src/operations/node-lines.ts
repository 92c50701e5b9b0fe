// The columns that name claims of nodes, shared by every verb that ends or extends them. Runs no statement.
import type { NodeLease } from '../protocol/run.ts'

export function nodeLines(nodes: readonly NodeLease[]): readonly (readonly string[])[] {
  return [nodes.map((node) => node.runId), nodes.map((node) => node.ordinal.toString()), nodes.map((node) => node.leaseId)]
}
