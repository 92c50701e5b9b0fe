// A worker: claims what it knows, runs it, keeps its claims alive, and ends it. A stop claims no more at once, goes on renewing
// while handlers finish, and hands back what is left uncounted, so that nothing of this process stays leased.
import { claim } from '../../operations/claim.ts'
import { heartbeat } from '../../operations/heartbeat.ts'
import { setProgress } from '../../operations/set-progress.ts'
import { errorLine, type Logger } from '../../client/logger.ts'
import type { Database } from '../../db/pool.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type { ClaimedNode } from '../../protocol/run.ts'
import { RANK, type Admission } from '../../traffic/admission.ts'
import type { RunTraffic } from '../../traffic/run-traffic.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { AttemptPorts } from '../context/attempt.ts'
import type { RunningWorker, WorkerOptions, WorkerStatus } from '../define/worker.ts'
import type { RunCalls } from '../run/run-calls.ts'
import { createClaimLoop, type ClaimLoop } from './claim-loop.ts'
import { isCrash } from './crash.ts'
import { createEnds } from './ends.ts'
import { createHeldNodes, type Held } from './held-nodes.ts'
import type { Heartbeat, HeartbeatPorts } from './heartbeat-loop.ts'
import { keepSeen } from './keep-seen.ts'
import { watchLoopLag, type LoopLag } from './loop-lag.ts'
import { planBatch } from './plan-batch.ts'
import { createRegistry } from './registry.ts'
import { runAction } from './run-action.ts'
import { runCode } from './run-code.ts'
import { workerSettings } from './worker-options.ts'
import type { WorkerParts } from './worker-parts.ts'

export interface WorkerPorts {
  readonly database: Database
  readonly traffic: Traffic
  readonly runs: RunTraffic
  readonly calls: RunCalls
  readonly log: Logger
  /** Places for steps that hold a connection. */
  readonly steps: Admission
  readonly startHeartbeat: (ports: HeartbeatPorts, maxStallMs: number) => Heartbeat
}

/** Hints about single runs that ended, for waiters in other processes: past this many a second they find out by their poll. */
const TOLD_PER_SECOND = 50

export async function startWorker(options: WorkerOptions, ports: WorkerPorts): Promise<RunningWorker> {
  const { database, runs, log } = ports
  const settings = workerSettings(options)
  const registry = createRegistry([...(options.actions ?? []), ...(options.workflows ?? [])], settings.queues)
  const held = createHeldNodes(settings.leaseMs)
  /** Of the last word with the database, null when that went well. */
  let lastError: string | null = null
  const onFault = (what: string, error: unknown): void => log.warn({ error: errorLine(error) }, what)
  const ends = createEnds({
    database,
    leaseMs: settings.leaseMs,
    registry,
    take,
    onFault,
    onTrouble(error) {
      lastError = error === null ? null : errorLine(error)
    },
  })
  let state: WorkerStatus['state'] = 'starting'
  let stopping: Promise<void> | null = null

  const attempts: AttemptPorts = {
    database,
    // The lease is renewed while the handler works: the bound is its own timeout.
    stepMs: 2_147_483_647,
    calls: ports.calls,
    log,
    borrow: async () =>
      new Promise((borrowed, refused) => {
        ports.steps.enter(RANK.write, async () => new Promise<void>((free) => borrowed(free))).catch(refused)
      }),
    readKv: async (operations) => ports.traffic.kv(operations),
    async progress(of, text) {
      await setProgress(database, of.node, text)
    },
  }

  let planning: Held[] = []
  let plannings = 0

  function hold(nodes: readonly ClaimedNode[], since: number): readonly Held[] {
    const entries = held.hold(nodes, since)
    beating.add(entries)
    return entries
  }

  function take(nodes: readonly ClaimedNode[]): void {
    loop.add(hold(nodes, performance.now()))
  }

  const endedRuns: string[] = []
  let toldInSecond = 0
  const parts: WorkerParts = {
    database,
    settings,
    registry,
    ends,
    held,
    runs,
    attempts,
    hooks: options.hooks ?? {},
    log,
    committed: (queue) => ports.traffic.committed(queue),
    settled(node, ended, more) {
      if (ended && endedRuns.push(node.runId) === 1) setImmediate(tellEnded)
      if (more) runs.wake(null)
      // A run of code that waited for this one may go on.
      else if (ended && registry.code(node.want) !== null) loop.wake()
    },
    again: () => loop.wake(),
    take,
    stopping: () => state === 'stopping',
  }

  function tellEnded(): void {
    const ids = endedRuns.splice(0)
    runs.watch.ring(ids)
    for (const id of ids) {
      if (toldInSecond >= TOLD_PER_SECOND) return
      toldInSecond += 1
      runs.tellEnded(id)
    }
  }

  function execute(of: Held, free: () => void): Promise<unknown> {
    const { node } = of
    const code = registry.code(node.want)
    if (code !== null) return runCode(parts, of, code, free)
    const action = registry.action(node.want)
    if (action !== null) return runAction(parts, of, action, free)
    return ends.handBack([node])
  }

  /** Planners of one turn share their statements. */
  async function planSoon(of: Held): Promise<void> {
    planning.push(of)
    if (planning.length > 1) return
    await new Promise((resolve) => setImmediate(resolve))
    const batch = planning
    planning = []
    plannings += 1
    try {
      await planBatch(parts, batch)
    } finally {
      plannings -= 1
      for (const one of batch) held.drop(one)
    }
  }

  async function run(of: Held, free: () => void): Promise<void> {
    const isPlan = of.node.want.startsWith('plan:')
    try {
      await (isPlan ? planSoon(of) : execute(of, free))
    } catch (error) {
      // Its end could not be written while the lease lived: the lease law decides.
      if (!isCrash(error)) onFault('a claim was left to its lease', error)
    } finally {
      if (!isPlan) held.drop(of)
    }
  }

  const loop: ClaimLoop<Held> = createClaimLoop({
    concurrency: settings.concurrency,
    pollMs: settings.pollMs,
    async claim(max, floor) {
      const since = performance.now()
      // Safe to forget: whoever completes under a token that a crash undid has lost the lease.
      const outcome = await claim(database.forgetful, {
        wants: registry.wants,
        leaseId: mintId(),
        leaseMs: settings.leaseMs,
        max,
        floor,
      })
      lastError = null
      return { ...outcome, nodes: hold(outcome.nodes, since) }
    },
    run,
    onFault(error) {
      lastError = errorLine(error)
      onFault('a look for work failed; trying again', error)
    },
  })

  await registry.register(database)
  const seen = keepSeen(database, registry, (error) => onFault('what this worker has could not be said', error))
  const beating = ports.startHeartbeat(
    {
      held,
      leaseMs: settings.leaseMs,
      beat: async (nodes) => heartbeat(database, nodes, settings.leaseMs),
      onFault: (error) => onFault('a heartbeat failed; trying again', error),
    },
    settings.maxStallMs,
  )
  const lag: LoopLag = watchLoopLag(() => {
    toldInSecond = Math.max(0, toldInSecond - TOLD_PER_SECOND / 5)
  })
  const known = new Set(registry.wants.map((want) => want.replace(/^(?:plan|flow):/, '').replace(/@[^@]*$/, '')))
  const unhook = runs.onWork((name) => {
    if (name === null || known.has(name) || registry.action(name) !== null) loop.wake()
  })
  await beating.ready
  state = 'running'
  loop.start()

  async function end(drainMs: number): Promise<void> {
    state = 'stopping'
    const left = await loop.stop()
    unhook()
    for (const of of left) held.drop(of)
    await ends.handBack(left.map((of) => of.node))
    const late = setTimeout(() => {
      for (const of of held.all()) held.leave(of.node, 'abandoned')
    }, drainMs)
    await loop.idle()
    clearTimeout(late)
    // What a completion took at the very end.
    await ends.handBack(held.all().map((of) => of.node))
    await ends.idle()
    await beating.stop()
    lag.stop()
    await seen.stop()
    state = 'stopped'
  }

  return {
    async stop(drainMs = settings.drainMs) {
      await (stopping ??= end(drainMs))
    },
    status: () => ({
      state,
      running: loop.running + plannings,
      waiting: loop.waiting,
      healthy:
        state === 'running' &&
        lastError === null &&
        !loop.failing &&
        performance.now() - loop.lastLookAt < settings.pollMs * 10 + settings.leaseMs,
      lastError,
      loopLagMs: lag.worstMs,
    }),
  }
}
