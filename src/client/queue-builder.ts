// The grammar of one queue. Every setting returns a new builder, so one can be kept and used twice; the verbs at the end
// (push, pop, consume, create, delete, seek) are where something happens.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { refuse, root } from '../protocol/check.ts'
import type { SeekTarget } from '../protocol/group-info.ts'
import { seekTarget } from './groups/groups-client.ts'
import type { BufferOptions } from './buffer/buffer-options.ts'
import type { QueueBuffer } from './buffer/buffer-set.ts'
import type { ConsumeResult } from './consume/consume-loop.ts'
import type { Deliveries } from './consume/deliveries.ts'
import type { InvalidMessage } from './consume/consume-context.ts'
import type { StartStep } from './consume/work-start.ts'
import type { Message } from './message.ts'
import { planFor, settingsOver, type Plan, type Settings } from './plan.ts'
import { type outgoingItems, type PushInput, type PushOutcome } from './push-input.ts'
import type { QueueDefinition } from './queue-definition.ts'
import { checkSettings, type EffectiveSettings, type QueueSettings } from './queue-settings.ts'
import type { TransactionClient } from './transaction-client.ts'
import type { TransactionScope } from './transaction-scope.ts'
import { STARTS, type StartingQueue } from '../workflow/define/start-on.ts'
import type { Untyped } from './untyped.ts'

/** How a client reaches PostgreSQL; it decides what its builders can do. */
export type Way = 'http' | 'postgres'

export interface ConsumeOptions {
  /** Aborted: claim no more, let the handlers at work finish, hand back the rest, resolve with reason 'stopped'. */
  readonly signal?: AbortSignal | undefined
  /** Takes messages that the queue's schema refuses; without it they are dead-lettered with the path of the fault. */
  readonly onInvalid?: ((message: InvalidMessage) => unknown) | undefined
}

/** The step of a transactional consumer: one commit of the user's rows, pushes, state and the ack. */
export interface Step extends TransactionScope {
  /** Open already. It refuses BEGIN, COMMIT and ROLLBACK, which are the consumer's; savepoints are allowed. */
  readonly tx: TransactionClient
}

/** What `this` has to be for a verb that needs PostgreSQL in process; the text is what the compiler shows. */
type InProcess<W extends Way> = W extends 'http'
  ? 'transactional() runs inside PostgreSQL: make the client with { connectionString } or { pool }'
  : unknown

export interface Each<Out, W extends Way>
  extends Settings<Each<Out, W>>, StartingQueue<Out>, AsyncIterable<Message<Out>> {
  transactional(this: InProcess<W>): TransactionalEach<Out>
  consume(handler: (message: Message<Out>) => unknown, options?: ConsumeOptions): Promise<ConsumeResult>
  /** The same as a loop: `for await (const message of …)`. The builder itself may be looped over, too. */
  messages(options?: ConsumeOptions): Deliveries<Message<Out>>
}

export interface TransactionalEach<Out> extends Settings<TransactionalEach<Out>> {
  /** Returns: the ack and everything of the step in one commit, fenced by the lease. Throws: nothing of it, and a failure. */
  consume(handler: (message: Message<Out>, step: Step) => unknown, options?: ConsumeOptions): Promise<ConsumeResult>
}

export interface CreateOptions {
  readonly namespace?: string | undefined
  readonly task?: string | undefined
  /** First put every option back to its default. */
  readonly replace?: boolean | undefined
}

export interface QueueDescription {
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly options: EffectiveSettings
}

export interface Queue<In, Out, W extends Way> extends Settings<Queue<In, Out, W>>, StartingQueue<Out> {
  push(items: PushInput<In> | readonly PushInput<In>[]): Promise<readonly PushOutcome[]>
  /**
   * Pushes that are gathered in this process, bounded, and sent together; one buffer for each queue and client. Without options:
   * the one that there is, or a new one with the defaults.
   */
  buffer(options?: BufferOptions): QueueBuffer<In>
  /** One claim. The messages are leased until they are acked or the lease ends. */
  pop(options?: Omit<ConsumeOptions, 'onInvalid'>): Promise<Message<Out>[]>
  /** The handler takes one message at a time. */
  each(): Each<Out, W>
  transactional(this: InProcess<W>): TransactionalEach<Out>
  /** The handler takes what one claim brought. */
  consume(handler: (messages: readonly Message<Out>[]) => unknown, options?: ConsumeOptions): Promise<ConsumeResult>
  /** The same as a loop: `for await (const messages of …)`. */
  batches(options?: ConsumeOptions): Deliveries<readonly Message<Out>[]>
  /** Options for `create`. */
  config(settings: QueueSettings): Queue<In, Out, W>
  /** Creates the queue, or changes the options that were named. */
  create(options?: CreateOptions): Promise<QueueDescription>
  delete(): Promise<{ readonly existed: boolean }>
  /** Moves the builder's group to another place in the queue, or in the builder's partition; leases of the group end there. */
  seek(to: SeekTarget | Date): Promise<void>
  /** Forgets the builder's group on this queue: the next pop under its name registers it anew. */
  forgetGroup(): Promise<void>
}

/** The verbs behind the builders, over a finished plan. */
export interface QueueVerbs {
  push(items: Parameters<typeof outgoingItems>[0], plan: Plan): Promise<readonly PushOutcome[]>
  buffer(plan: Plan, options: BufferOptions | undefined): QueueBuffer<Untyped>
  pop(plan: Plan, options: ConsumeOptions): Promise<Message<Untyped>[]>
  consumeEach(
    plan: Plan,
    handler: (message: Message<Untyped>) => unknown,
    options: ConsumeOptions,
  ): Promise<ConsumeResult>
  consumeBatch(
    plan: Plan,
    handler: (messages: readonly Message<Untyped>[]) => unknown,
    options: ConsumeOptions,
  ): Promise<ConsumeResult>
  messages(plan: Plan, options: ConsumeOptions): Deliveries<Message<Untyped>>
  batches(plan: Plan, options: ConsumeOptions): Deliveries<readonly Message<Untyped>[]>
  consumeSteps(
    plan: Plan,
    handler: (message: Message<Untyped>, step: Step) => unknown,
    options: ConsumeOptions,
  ): Promise<ConsumeResult>
  consumeStarts(plan: Plan, step: StartStep<Untyped>, options: ConsumeOptions): Promise<ConsumeResult>
  create(plan: Plan, options: CreateOptions): Promise<QueueDescription>
  delete(plan: Plan): Promise<{ readonly existed: boolean }>
  seek(plan: Plan, to: SeekTarget): Promise<void>
  forgetGroup(plan: Plan): Promise<void>
}

function checkHandler<H>(handler: H): H {
  return typeof handler === 'function' ? handler : refuse(root(), 'handler', 'a function')
}

function transactionalOver(verbs: QueueVerbs, plan: Plan): TransactionalEach<Untyped> {
  return {
    ...settingsOver(plan, (next) => transactionalOver(verbs, next)),
    consume: async (handler, options = {}) => verbs.consumeSteps(plan, checkHandler(handler), options),
  }
}

function eachOver<W extends Way>(verbs: QueueVerbs, plan: Plan): Each<Untyped, W> {
  return {
    ...settingsOver(plan, (next) => eachOver<W>(verbs, next)),
    transactional: () => transactionalOver(verbs, plan),
    consume: async (handler, options = {}) => verbs.consumeEach(plan, checkHandler(handler), options),
    messages: (options = {}) => verbs.messages(plan, options),
    [Symbol.asyncIterator]: () => verbs.messages(plan, {}),
    [STARTS]: async (step, options) => verbs.consumeStarts(plan, step, options),
  }
}

function queueOver<W extends Way>(verbs: QueueVerbs, plan: Plan): Queue<Untyped, Untyped, W> {
  return {
    ...settingsOver(plan, (next) => queueOver<W>(verbs, next)),
    push: async (items) => verbs.push(items, plan),
    buffer: (options) => verbs.buffer(plan, options),
    pop: async (options = {}) => verbs.pop(plan, options),
    each: () => eachOver<W>(verbs, plan),
    transactional: () => transactionalOver(verbs, plan),
    consume: async (handler, options = {}) => verbs.consumeBatch(plan, checkHandler(handler), options),
    batches: (options = {}) => verbs.batches(plan, options),
    [STARTS]: async (step, options) => verbs.consumeStarts(plan, step, options),
    config: (settings) => queueOver<W>(verbs, { ...plan, settings: { ...plan.settings, ...checkSettings(settings) } }),
    create: async (options = {}) => verbs.create(plan, options),
    delete: async () => verbs.delete(plan),
    seek: async (to) => verbs.seek(plan, seekTarget(to)),
    forgetGroup: async () => verbs.forgetGroup(plan),
  }
}

export function queueBuilder<W extends Way>(
  verbs: QueueVerbs,
  definition: QueueDefinition<string, Untyped, Untyped>,
): Queue<Untyped, Untyped, W> {
  return queueOver<W>(verbs, planFor(definition))
}

/** `lockstep.queue(…)` in its three forms: a name, a declared queue, a name with a schema. */
export interface QueueEntry<W extends Way> {
  <T = Untyped>(name: string): Queue<T, T, W>
  <In, Out>(definition: QueueDefinition<string, In, Out>): Queue<In, Out, W>
  <S extends StandardSchemaV1>(
    name: string,
    schema: S,
  ): Queue<StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>, W>
}
