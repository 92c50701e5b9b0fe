// Runs a stream in this process: registers it, consumes its source as the group `streams.<name>`, and closes windows where no message
// comes. Any number of processes may run the same one: a partition is in one's hands at a time. Told to stop it takes no more and
// lets the batches at work be committed.
import { integer, optional, readFields, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { groupName } from '../../protocol/names.ts'
import type { StreamRegistration } from '../../protocol/stream.ts'
import { watchAttempts } from '../attempts.ts'
import type { Running } from '../consume/consumer-set.ts'
import type { ConsumeContext } from '../consume/consume-context.ts'
import { keepClaim } from '../consume/keep-claim.ts'
import { laneBatches } from '../consume/lane-batch.ts'
import { startConsumer } from '../consume/start-consumer.ts'
import { stopSwitch, type StopSwitch } from '../consume/stop-switch.ts'
import { errorLine, type Logger } from '../logger.ts'
import { planFor, settingsOver, type Plan, type SubscriptionMode } from '../plan.ts'
import type { Transport } from '../transport.ts'
import { closer } from './close-loop.ts'
import type { LateMessage } from './fold-message.ts'
import { httpStreamCalls } from './http-stream-calls.ts'
import type { StreamContext, StreamCounts, StreamFault } from './stream-context.ts'
import { shapeOf, type StreamPlan } from './stream-plan.ts'
import { workLane } from './work-lane.ts'

/** What a client gives a stream to run on. */
export interface StreamPorts {
  readonly transport: Transport
  readonly log: Logger
  /** Keeps it for the client's close. */
  readonly run: <R>(running: Running<R>) => Promise<R>
}

export interface StreamOptions {
  /** Aborted: as `stop`. */
  readonly signal?: AbortSignal | undefined
  /** Registered with another shape: forget what was remembered and begin anew, instead of throwing `stream_conflict`. */
  readonly reset?: boolean | undefined
  /** Where a stream that has never run begins: everything that is kept (`all`, the default), or what comes from now on. */
  readonly subscriptionMode?: SubscriptionMode | undefined
  /** Messages taken at once; default 200. */
  readonly batch?: number | undefined
  /** Partitions taken at once, worked on side by side; default 4. */
  readonly partitions?: number | undefined
  /** Claims worked on side by side; default 1. */
  readonly concurrency?: number | undefined
  /** Seconds, renewed while a batch is worked on: so long nobody takes over from a runner that died. Default 30, at most 600. */
  readonly leaseSeconds?: number | undefined
  /** Told of every error beside the log: a message that failed, a window that could not be closed, a batch that comes again. */
  readonly onError?: ((error: unknown, fault: StreamFault) => unknown) | undefined
  /** Told of messages whose windows were closed already. */
  readonly onLate?: ((message: LateMessage) => unknown) | undefined
}

export interface StreamStatus extends Readonly<StreamCounts> {
  readonly state: 'running' | 'stopping' | 'stopped' | 'failed'
  readonly lastError: string | null
}

export interface RunningStream {
  readonly name: string
  /** Of the registration; a reset gives a new one. */
  readonly queryId: string
  /** `kept`: it goes on with what is remembered. */
  readonly outcome: 'fresh' | 'kept' | 'reset'
  status(): StreamStatus
  /** Takes no more, lets the batches at work be committed, and resolves as `done` does. */
  stop(): Promise<void>
  /** Resolves when it has stopped; rejects when it cannot go on: `stream_conflict` when it was reset by another, `forbidden`. */
  readonly done: Promise<void>
  /** `await using`: stops it. */
  [Symbol.asyncDispose](): Promise<void>
}

const BATCH = 200
const PARTITIONS = 4
const FIELDS = {
  batch: optional(integer(1, LIMITS.popBatch), BATCH),
  partitions: optional(integer(1, LIMITS.popPartitions), PARTITIONS),
  concurrency: optional(integer(1, LIMITS.parkedPolls), 1),
  leaseSeconds: optional(integer(1, LIMITS.streamClaimSeconds), LIMITS.streamClaimSecondsDefault),
} as const

function consumingPlan({ name, source }: StreamPlan, options: StreamOptions): Plan {
  const { batch, partitions, concurrency, leaseSeconds } = readFields(FIELDS, options, root())
  const group = groupName.read(`streams.${name}`, root(), 'name')
  const plan: Plan = { ...planFor(source), group, batch, partitions, concurrency, leaseSeconds, autoAck: false }
  return settingsOver(plan, (next) => next).subscriptionMode(options.subscriptionMode ?? 'all')
}

/** All partitions of one pop side by side; abandoned, it waits for none of them and commits nothing more. */
async function workPop(
  context: StreamContext,
  consuming: ConsumeContext,
  deliveries: Parameters<typeof laneBatches>[0],
) {
  const lanes = laneBatches(deliveries)
  const abort = (): void => lanes.forEach(({ lost }) => lost.abort())
  const keeper = keepClaim(consuming, deliveries, abort)
  let forget = (): void => {}
  const abandoned = new Promise<void>((resolve) => {
    forget = consuming.abandoned.onThrown(() => {
      abort()
      resolve()
    })
  })
  try {
    const work = Promise.all(
      lanes.map(async (lane) =>
        workLane(context, consuming, { deliveries: lane.deliveries, signal: lane.lost.signal }),
      ),
    )
    await Promise.race([work, abandoned])
  } finally {
    forget()
    keeper.stop()
  }
}

const thrown = async (given: StopSwitch): Promise<void> =>
  new Promise((resolve) => {
    given.onThrown(resolve)
  })

export async function runStream(plan: StreamPlan, ports: StreamPorts, options: StreamOptions): Promise<RunningStream> {
  const { transport, log } = ports
  const consuming = consumingPlan(plan, options)
  const calls = (await transport.streams()) ?? httpStreamCalls(transport.ask)
  const registration: StreamRegistration = {
    name: plan.name,
    sourceQueue: plan.source.name,
    sinkQueue: plan.sink?.definition.name ?? null,
    configHash: shapeOf(plan),
    reset: options.reset === true,
  }
  const { queryId, outcome } = await calls.register(registration)
  const counts: StreamCounts = { messages: 0, results: 0, closed: 0, late: 0, failed: 0, lost: 0 }
  const closing = closer(() => context)
  const context: StreamContext = {
    plan,
    queryId: Number(queryId),
    calls,
    transport,
    log,
    counts,
    leaseSeconds: consuming.leaseSeconds ?? LIMITS.streamClaimSecondsDefault,
    onError: options.onError ?? null,
    onLate: options.onLate ?? null,
    nudge: () => closing.nudge(),
    lastError: null,
  }
  let state: StreamStatus['state'] = 'running'
  const stopping = stopSwitch()
  const abandoned = stopSwitch()
  const consumer = startConsumer({
    transport,
    attempts: watchAttempts(),
    log,
    plan: consuming,
    options: {},
    batch: consuming.batch ?? BATCH,
    inProcess: false,
    warnConflict: () => {},
    work: (consume) => async (deliveries) => workPop(context, consume, deliveries),
  })

  function halt(): void {
    if (state === 'running') state = 'stopping'
    stopping.throw()
    consumer.stop()
  }

  async function part(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      // The other one ends too; the fault is what `done` tells.
      halt()
      throw error
    }
  }

  async function whole(): Promise<void> {
    const ended = await Promise.allSettled([
      part(consumer.done),
      part(Promise.race([closing.run(stopping), thrown(abandoned)])),
    ])
    options.signal?.removeEventListener('abort', halt)
    const failed = ended.find((each) => each.status === 'rejected')
    state = failed === undefined ? 'stopped' : 'failed'
    if (failed === undefined) return
    context.lastError = errorLine(failed.reason)
    log.warn({ stream: plan.name, error: context.lastError }, 'a stream has ended: it cannot go on')
    throw failed.reason
  }

  if (options.signal?.aborted === true) halt()
  options.signal?.addEventListener('abort', halt, { once: true })
  function abandon(): void {
    abandoned.throw()
    consumer.abandon()
  }
  const done = ports.run({ stop: halt, abandon, done: whole() })
  // Told in the log too: whoever does not wait for it is not killed by it.
  done.catch(() => {})
  return {
    name: plan.name,
    queryId,
    outcome: outcome === 'mismatch' ? 'kept' : outcome,
    status: () => ({ ...counts, state, lastError: context.lastError }),
    async stop() {
      halt()
      await done
    },
    done,
    async [Symbol.asyncDispose]() {
      halt()
      await done
    },
  }
}
