// Every verb about runs and schedules as one step of a session in that world. What it answers is nobody's business here: a lost
// claim, an absent schedule are answers; the laws are looked at afterwards.
import { callNode } from '../../src/operations/call-node.ts'
import { cancelRun } from '../../src/operations/cancel-run.ts'
import { claim } from '../../src/operations/claim.ts'
import { completeNodes } from '../../src/operations/complete-nodes.ts'
import { deleteSchedule } from '../../src/operations/delete-schedule.ts'
import { failNodes } from '../../src/operations/fail-nodes.ts'
import { handBackNodes } from '../../src/operations/hand-back-nodes.ts'
import { heartbeat } from '../../src/operations/heartbeat.ts'
import { pauseSchedule } from '../../src/operations/pause-schedule.ts'
import { planNodes } from '../../src/operations/plan-nodes.ts'
import { putSchedule } from '../../src/operations/put-schedule.ts'
import { recordSteps } from '../../src/operations/record-steps.ts'
import { retryRun } from '../../src/operations/retry-run.ts'
import { seeWorkflows } from '../../src/operations/see-workflows.ts'
import { setProgress } from '../../src/operations/set-progress.ts'
import { signalRun } from '../../src/operations/signal-run.ts'
import { startChild } from '../../src/operations/start-child.ts'
import { submit } from '../../src/operations/submit.ts'
import { suspend } from '../../src/operations/suspend.ts'
import { takeSignal } from '../../src/operations/take-signal.ts'
import { triggerSchedule } from '../../src/operations/trigger-schedule.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { NodeLease } from '../../src/protocol/run.ts'
import type { Actor } from './actor.ts'
import { FIRST_SLOT, graphOf, nodeOf, runOf, type RunWorld } from './run-world.ts'

export type RunVerb = (actor: Actor, world: RunWorld) => Promise<unknown>

const TAKE = { leaseMs: 600_000 }

const done = (node: NodeLease, plans: { ordinal: number; input: string; take: boolean }[] = []) => ({
  ...node,
  output: '1',
  plans,
})

const failure = (node: NodeLease, retry: boolean) => ({ ...node, error: '{}', retry, retryAfterMs: 0 })

export const RUN_VERBS: Readonly<Record<string, RunVerb>> = {
  submit: ({ db }, { name }) =>
    submit(db, [runOf(name), graphOf(name), runOf(`${name}-limited`, { limitKey: 'k', limitMax: 1 })]),
  'submit of plain jobs': ({ db }, { name }) => submit(db, [runOf(name), runOf(name)]),
  'submit of a known key': ({ db }, { name }) => submit(db, [runOf(`${name}-undo`, { key: 'known' })]),
  claim: ({ db }, { wants }) => claim(db, { wants, leaseId: mintId(), ...TAKE, max: 50, floor: null }),
  heartbeat: ({ db }, world) =>
    heartbeat(db, [nodeOf(world, world.job), nodeOf(world, world.graph, 1), nodeOf(world, world.code)], 900_000),
  'completion of a job and a node': ({ db }, world) =>
    completeNodes(
      db,
      [done(nodeOf(world, world.graph, 1), [{ ordinal: 2, input: '1', take: true }]), done(nodeOf(world, world.job))],
      { leaseId: mintId(), ...TAKE },
    ),
  'completion of code': ({ db }, world) =>
    completeNodes(db, [done(nodeOf(world, world.code))], { leaseId: mintId(), ...TAKE }),
  'completion under a limit': ({ db }, world) =>
    completeNodes(db, [done(nodeOf(world, world.limited[0]))], { leaseId: mintId(), ...TAKE }),
  'failure of a node': ({ db }, world) => failNodes(db, [failure(nodeOf(world, world.graph, 1), false)]),
  'failures that come again': ({ db }, world) =>
    failNodes(db, [failure(nodeOf(world, world.limited[0]), true), failure(nodeOf(world, world.job), true)]),
  'hand-back': ({ db }, world) =>
    handBackNodes(db, [
      nodeOf(world, world.limited[0]),
      nodeOf(world, world.code),
      nodeOf(world, world.graph, 1),
      nodeOf(world, world.unplanned, 1),
      nodeOf(world, world.job),
    ]),
  planning: ({ db }, world) => planNodes(db, [{ ...nodeOf(world, world.unplanned, 1), outcome: 'skip' }]),
  'cancel of a graph': ({ db }, { graph }) => cancelRun(db, graph, null),
  'cancel of code': ({ db }, { code }) => cancelRun(db, code, null),
  'cancel under a limit': ({ db }, { limited }) => cancelRun(db, limited[0], null),
  'retry of a failed run': ({ db }, { failed }) => retryRun(db, failed),
  signal: ({ db }, { code }) => signalRun(db, code, 's', '1'),
  'taking of a signal': ({ db }, { code, leaseId }) => takeSignal(db, code, leaseId, 'heard', 's'),
  'record of a step': ({ db }, { code, leaseId }) =>
    recordSteps(db, [{ runId: code, leaseId, name: 'step', output: '1', state: 'done' }]),
  'suspension of code': ({ db }, { code, leaseId }) =>
    suspend(db, code, leaseId, {
      sleeps: [],
      signals: [{ step: 'heard', signal: 's', timeoutMs: null }],
      called: [],
      children: [],
    }),
  'call from code': ({ db }, { code, leaseId, name }) =>
    callNode(db, code, leaseId, {
      ...runOf(name),
      name: 'called',
      action: name,
      maxAttempts: 1,
      backoffMs: 1,
      backoffMaxMs: 1,
      delayMs: 0,
    }),
  'start of a child': ({ db }, { code, leaseId, name }) => startChild(db, code, leaseId, 'child', runOf(name)),
  progress: ({ db }, world) => setProgress(db, nodeOf(world, world.job), '1'),
  deadlines: ({ sql }) => sql('select lockstep.expire_runs(100)'),
  'removal of old runs': ({ sql }) =>
    sql(`select * from lockstep.remove_runs('00000000-0000-0000-0000-000000000000', 10000)`),
  'removal of limits': ({ sql }) => sql('select lockstep.remove_limits(100)'),
  'sight of workflows': ({ sql, db }, { name }) =>
    sql(`select lockstep.register_workflow($1, '', 'action', '{}')`, [name]).then(() =>
      seeWorkflows(db, [{ name, version: '' }]),
    ),
  'change of a schedule': ({ db }, { schedule, name }) =>
    putSchedule(db, {
      name: schedule,
      cron: '0 4 * * *',
      zone: 'UTC',
      intervalMs: null,
      target: name,
      input: '2',
      priority: 0,
      misfire: 'all',
      overlap: 'allow',
    }),
  'pause of a schedule': ({ db }, { schedule }) => pauseSchedule(db, schedule, true),
  'start by hand': ({ db }, { schedule }) => triggerSchedule(db, schedule),
  'firing of a schedule': ({ sql }, { schedule }) =>
    sql(
      `select lockstep.fire_schedule($1, $2::timestamptz, array[$2::timestamptz], array[$3::uuid], '2999-01-01Z', 60000)`,
      [schedule, FIRST_SLOT, mintId()],
    ),
  'deletion of a schedule': ({ db }, { schedule }) => deleteSchedule(db, schedule),
}
