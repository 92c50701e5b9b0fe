// The columns that name claims of nodes, and the words for what became of one, shared by the verbs that end or extend them. Runs
// no statement.
import type { NodeLease } from '../protocol/run.ts'

export function nodeLines(nodes: readonly NodeLease[]): readonly (readonly string[])[] {
  return [
    nodes.map((node) => node.runId),
    nodes.map((node) => node.ordinal.toString()),
    nodes.map((node) => node.leaseId),
  ]
}

/** What became of an end whose COMMIT was not answered. held: it was not committed, and the lease still lives. */
export type CompletionFate = 'done' | 'held' | 'lost'

export function fateOf(text: string | null | undefined): CompletionFate {
  return text === 'done' || text === 'held' ? text : 'lost'
}
