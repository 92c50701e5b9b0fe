// Answers about runs as JSON text. Inputs and outputs go out as the bytes they were stored as.
import type { ClaimedNode, ListedRun, ShownNode, ShownRun, SubmittedRun } from './run.ts'

function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

const said = (value: unknown): string => JSON.stringify(value) ?? 'null'

export function encodeSubmitted(run: SubmittedRun): string {
  return JSON.stringify({ runId: run.runId, created: run.created, conflict: run.differs })
}

export function encodeRun(runId: string, run: ShownRun): string {
  const fields = [
    member('runId', said(runId)),
    member('state', said(run.state)),
    member('kind', said(run.kind)),
    member('workflow', said(run.workflow)),
    member('version', said(run.version)),
    member('output', run.output ?? 'null'),
    member('error', run.error ?? 'null'),
    member('attempt', said(run.attempt)),
    member('progress', run.progress ?? 'null'),
    member('priority', said(run.priority)),
    member('tags', said(run.tags)),
    member('key', said(run.key)),
    member('createdAt', said(run.createdAt)),
    member('finishedAt', said(run.finishedAt)),
    member('occurrence', said(run.occurrence)),
  ]
  return `{${fields.join(',')}}`
}

/** Of each its errors as they were stored. */
export function encodeRunPage(runs: readonly ListedRun[], next: string | null): string {
  const rows = runs.map(({ error, ...run }) => `${said(run).slice(0, -1)},"error":${error ?? 'null'}}`)
  return `{"runs":[${rows.join(',')}],"next":${said(next)}}`
}

export function encodeNodes(nodes: readonly ShownNode[]): string {
  const rows = nodes.map((node) => {
    const { output, error, progress, ...rest } = node
    const head = JSON.stringify(rest)
    return `${head.slice(0, -1)},"output":${output ?? 'null'},"error":${error ?? 'null'},"progress":${progress ?? 'null'}}`
  })
  return `{"nodes":[${rows.join(',')}]}`
}

export function encodeClaims(nodes: readonly ClaimedNode[]): string {
  const rows = nodes.map(
    (node) =>
      `{"runId":${said(node.runId)},"ordinal":${node.ordinal},"leaseId":${said(node.leaseId)},"action":${said(node.want)},"node":${said(node.ordinal === 0 ? node.workflow : node.name)},"attempt":${node.attempt},"maxAttempts":${node.maxAttempts},"workflow":${said(node.workflow)},"idempotencyKey":${said(`${node.runId}:${node.ordinal === 0 ? node.workflow : node.name}`)},"occurrence":${said(node.occurrence)},"input":${node.input ?? 'null'}}`,
  )
  return `{"tasks":[${rows.join(',')}]}`
}
