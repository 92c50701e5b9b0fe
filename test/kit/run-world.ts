// A small world in which every verb about runs and schedules wants the same rows: one claim holds a job, a node of a graph, a node
// to be planned, code and one of two jobs that share a limit; a failed run is old enough to be removed; a schedule is due.
import { claim } from '../../src/operations/claim.ts'
import { completeNodes } from '../../src/operations/complete-nodes.ts'
import { failNodes } from '../../src/operations/fail-nodes.ts'
import { handBackNodes } from '../../src/operations/hand-back-nodes.ts'
import { planNodes } from '../../src/operations/plan-nodes.ts'
import { submit } from '../../src/operations/submit.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { NodeLease, OutgoingRun } from '../../src/protocol/run.ts'
import type { TestDatabase } from '../../src/testing/database.ts'

export interface RunWorld {
  readonly name: string
  readonly leaseId: string
  /** Of the action. */
  readonly job: string
  /** a before b; a is claimed. */
  readonly graph: string
  /** The same, whose a is to be planned. */
  readonly unplanned: string
  readonly code: string
  /** Of one limit; the first is claimed. */
  readonly limited: readonly [string, string]
  readonly failed: string
  readonly schedule: string
  /** What a worker of this world knows. */
  readonly wants: readonly string[]
}

export const nodeOf = ({ leaseId }: RunWorld, runId: string, ordinal = 0): NodeLease => ({ runId, ordinal, leaseId })

export function runOf(workflow: string, fields: Partial<OutgoingRun> = {}): OutgoingRun {
  return {
    runId: mintId(),
    workflow,
    kind: 'action',
    version: null,
    shape: null,
    key: null,
    input: '1',
    priority: null,
    delayMs: null,
    tags: null,
    deadlineMs: null,
    maxAttempts: 3,
    backoffMs: 1,
    backoffMaxMs: 1,
    limitKey: null,
    limitMax: null,
    limitIntervalMs: null,
    plans: [],
    ...fields,
  }
}

function shapeOf(name: string): string {
  const node = { action: name, kind: 'node', onFailure: 'fail', maxAttempts: 3, backoffMs: 1, backoffMaxMs: 1 }
  const a = { ...node, name: 'a', after: [], children: [2], compensate: `${name}-undo` }
  const b = { ...node, name: 'b', after: [1], children: [0] }
  return JSON.stringify({ output: false, sinks: 1, nodes: [a, b] })
}

export const graphOf = (name: string, fields: Partial<OutgoingRun> = {}): OutgoingRun =>
  runOf(`${name}-graph`, { kind: 'graph', version: 'v', shape: shapeOf(name), ...fields })

export const FIRST_SLOT = '2026-01-01T00:00:00Z'

export async function makeRunWorld(own: TestDatabase, nth: number): Promise<RunWorld> {
  const { database } = own
  const name = `w${nth}`
  await database.rows(
    `select lockstep.register_workflow($1, '', 'action', '{}'), lockstep.register_workflow($1 || '-undo', '', 'action', '{}'),
            lockstep.register_workflow($1 || '-code', '', 'code', '{}'), lockstep.register_workflow($1 || '-graph', 'v', 'graph', $2),
            lockstep.put_schedule($1, '0 3 * * *', 'UTC', null, $1, '1', 0, 'all', 'allow', $3::timestamptz)`,
    [name, shapeOf(name), FIRST_SLOT],
  )
  const code = runOf(`${name}-code`, { kind: 'code', version: '' })
  const limit = { limitKey: 'k', limitMax: 1 }
  const limited = [runOf(`${name}-limited`, limit), runOf(`${name}-limited`, limit)] as const
  const job = runOf(name)
  const graph = graphOf(name, { plans: [{ ordinal: 1, input: '1' }] })
  const unplanned = graphOf(name)
  const failed = runOf(`${name}-undo`, { key: 'known' })
  await submit(database, [job, graph, unplanned, code, ...limited, failed])
  const wants = [`plan:${name}-graph@v`, `flow:${name}-code`, name, `${name}-undo`, `${name}-limited`]
  const leaseId = mintId()
  const { nodes } = await claim(database, { wants, leaseId, leaseMs: 600_000, max: 50, floor: null })
  const first = nodes.find((node) => node.want === `${name}-limited`)?.runId
  const [one, two] = limited
  await failNodes(database, [
    { runId: failed.runId, ordinal: 0, leaseId, error: '{}', retry: false, retryAfterMs: null },
  ])
  await database.rows(
    `update lockstep.node set finished_at = case when run_id = $1::uuid then lockstep.clock() - interval '100 days' end,
            deadline = case when run_id = $2::uuid then lockstep.clock() - interval '1 second' end
      where run_id in ($1::uuid, $2::uuid) and ordinal = 0`,
    [failed.runId, graph.runId],
  )
  return {
    name,
    leaseId,
    job: job.runId,
    graph: graph.runId,
    unplanned: unplanned.runId,
    code: code.runId,
    limited: first === two.runId ? [two.runId, one.runId] : [one.runId, two.runId],
    failed: failed.runId,
    schedule: name,
    wants,
  }
}

/** Hands back what is held and works until nothing is due: whatever could run has run then. */
export async function settleRuns(own: TestDatabase, { name, wants, code }: RunWorld): Promise<void> {
  const { database } = own
  const held = await database.rows(
    'select run_id, ordinal, lease_id from lockstep.node where want = any ($1) and lease_expires_at is not null',
    [wants],
  )
  await handBackNodes(
    database,
    held.map(([runId, ordinal, leaseId]) => ({
      runId: runId ?? '',
      ordinal: Number(ordinal),
      leaseId: leaseId ?? '',
    })),
  )
  // What the code waits for comes, and no pause is waited out.
  await database.rows(`select lockstep.signal_run($1::uuid, 's', '1')`, [code])
  for (;;) {
    await database.rows(
      'update lockstep.node set available_at = lockstep.clock() where want = any ($1) and available_at > lockstep.clock()',
      [wants],
    )
    const leaseId = mintId()
    const { nodes } = await claim(database, { wants, leaseId, leaseMs: 600_000, max: 50, floor: null })
    if (nodes.length === 0) return
    const planned = nodes.filter((node) => node.want === `plan:${name}-graph@v`)
    await planNodes(
      database,
      planned.map(({ runId, ordinal }) => ({ runId, ordinal, leaseId, outcome: 'input' as const, input: '1' })),
    )
    await completeNodes(
      database,
      nodes
        .filter((node) => !planned.includes(node))
        .map(({ runId, ordinal }) => ({ runId, ordinal, leaseId, output: '1', plans: [] })),
      { leaseId: mintId(), leaseMs: 1 },
    )
  }
}
