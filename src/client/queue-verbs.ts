// The verbs at the end of a queue's grammar, over a transport: push, pop, the three ways to consume, and the queue itself.
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { Delivery } from '../protocol/message.ts'
import type { Attempts } from './attempts.ts'
import { bufferOver, type BufferSet } from './buffer/buffer-set.ts'
import type { ConsumeContext } from './consume/consume-context.ts'
import { deliveries } from './consume/deliveries.ts'
import { laneBatches, type LaneBatch } from './consume/lane-batch.ts'
import { startConsumer, type Consumer } from './consume/start-consumer.ts'
import { validMessage } from './consume/valid-message.ts'
import { workBatch } from './consume/work-batch.ts'
import { handleWith, workEach, type HandleOne } from './consume/work-each.ts'
import { handleStarts } from './consume/work-start.ts'
import { handleSteps } from './consume/work-step.ts'
import type { Logger } from './logger.ts'
import type { Message } from './message.ts'
import type { Plan } from './plan.ts'
import { popCall } from './pop-call.ts'
import { outgoingItems, pushOutcome } from './push-input.ts'
import type { ConsumeOptions, QueueVerbs } from './queue-builder.ts'
import { noteTrace } from './traces/note-trace.ts'
import type { Transport } from './transport.ts'
import type { Untyped } from './untyped.ts'
import { warnConflict, type WarnConflict } from './warn-conflict.ts'

export interface VerbParts {
  readonly transport: Transport
  readonly attempts: Attempts
  readonly log: Logger
  readonly inProcess: boolean
  readonly buffers: BufferSet
  /** Keeps the consumer for the client's close, and answers with its result. */
  readonly run: (consumer: Consumer) => Consumer['done']
}

const EACH_BATCH = 10
const CONSUMER_BATCH = 100

const STEPS_NEED_POSTGRES =
  'transactional() runs the step inside PostgreSQL: make the client with { connectionString } or { pool }'

type Claim = (plan: Plan) => Promise<readonly Delivery[]>

function claimOver(transport: Transport, warn: WarnConflict, signal: AbortSignal): Claim {
  return async (plan) => {
    const { batch, wait, timeoutMs } = plan
    const asked = { batch: batch ?? LIMITS.popBatchDefault, wait: wait ?? false, timeoutMs }
    return transport.pop(
      popCall(plan, asked, () => warn(plan)),
      signal,
    )
  }
}

/** A partition's messages up to the first that its schema refuses; that one is dead-lettered when it heads the batch. */
async function validHead({ transport, log }: VerbParts, plan: Plan, lane: LaneBatch): Promise<Message<Untyped>[]> {
  const messages: Message<Untyped>[] = []
  const context = { plan, onInvalid: null, noteTrace: noteTrace(transport, log) }
  for (const delivery of lane.deliveries) {
    const validated = await validMessage(context, delivery, lane.lost.signal)
    if (validated.valid) messages.push(validated.message)
    else {
      if (messages.length === 0) await transport.ack([await validated.end()])
      break
    }
  }
  return messages
}

async function pop(parts: VerbParts, plan: Plan, claim: Claim): Promise<Message<Untyped>[]> {
  for (;;) {
    const claimed = await claim(plan)
    const heads = await Promise.all(laneBatches(claimed).map(async (lane) => validHead(parts, plan, lane)))
    const messages = heads.flat()
    // Every pass without a message has dead-lettered one, so this ends.
    if (messages.length > 0 || claimed.length === 0) return messages
  }
}

const eitherOf = (own: AbortSignal, given: AbortSignal | undefined): AbortSignal =>
  given === undefined ? own : AbortSignal.any([own, given])

export function queueVerbs(parts: VerbParts): QueueVerbs {
  const { transport, run } = parts
  const warn = warnConflict(parts.log)

  async function consumeOneByOne(
    plan: Plan,
    options: ConsumeOptions,
    handleIn: (context: ConsumeContext) => HandleOne,
  ): Consumer['done'] {
    const batch = plan.batch ?? EACH_BATCH
    return run(
      startConsumer({
        ...parts,
        plan,
        options,
        batch,
        warnConflict: warn,
        work(context) {
          const handle = handleIn(context)
          return async (claimed, finished) => workEach(context, claimed, handle, finished)
        },
      }),
    )
  }

  async function consumeBatches(
    plan: Plan,
    options: ConsumeOptions,
    handlerIn: (context: ConsumeContext) => (messages: readonly Message<Untyped>[]) => unknown,
  ): Consumer['done'] {
    return run(
      startConsumer({
        ...parts,
        plan,
        options,
        warnConflict: warn,
        batch: plan.batch ?? CONSUMER_BATCH,
        work(context) {
          const handler = handlerIn(context)
          return async (claimed, finished) => workBatch(context, claimed, handler, finished)
        },
      }),
    )
  }

  return {
    async push(inputs, plan) {
      const { name, schema } = plan.definition
      const items = await outgoingItems(inputs, name, plan.partition, schema)
      return items.length === 0 ? [] : (await transport.push(items)).map(pushOutcome)
    },
    buffer: ({ definition, partition }, options) =>
      bufferOver(parts.buffers.open(definition, options), definition, partition),
    // One of its own for each: Node warns of a leak when many listen to the same one.
    pop: async (plan, options) =>
      pop(parts, plan, claimOver(transport, warn, options.signal ?? new AbortController().signal)),
    messages: (plan, options) =>
      deliveries(async ({ offer, halt, signal }) =>
        consumeOneByOne(plan, { ...options, signal: eitherOf(signal, options.signal) }, (context) => {
          context.stopping.onThrown(halt)
          return handleWith(context, offer)
        }),
      ),
    batches: (plan, options) =>
      deliveries(async ({ offer, halt, signal }) =>
        consumeBatches(plan, { ...options, signal: eitherOf(signal, options.signal) }, (context) => {
          context.stopping.onThrown(halt)
          return offer
        }),
      ),
    consumeEach: async (plan, handler, options) =>
      consumeOneByOne(plan, options, (context) => handleWith(context, handler)),
    async consumeSteps(plan, handler, options) {
      if (!parts.inProcess) throw new LockstepError('not_available', STEPS_NEED_POSTGRES)
      return consumeOneByOne(plan, options, (context) => handleSteps(context, handler))
    },
    consumeStarts: async (plan, step, options) =>
      consumeOneByOne({ ...plan, autoAck: true }, options, (context) => handleStarts(context, step)),
    consumeBatch: async (plan, handler, options) => consumeBatches(plan, options, () => handler),
    create: async (plan, options) =>
      transport.configure({
        queue: plan.definition.name,
        namespace: options.namespace ?? null,
        task: options.task ?? null,
        options: plan.settings,
        mode: options.replace === true ? 'replace' : 'merge',
      }),
    delete: async (plan) => transport.deleteQueue(plan.definition.name),
    async seek({ group, definition, partition }, to) {
      await transport.groups.seek({ group, queue: definition.name, partition, to })
    },
    async forgetGroup({ group, definition }) {
      await transport.groups.delete({ group, queue: definition.name, metadata: true })
    },
  }
}
