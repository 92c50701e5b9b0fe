// The grammar of an ephemeral queue: contents in one broker's memory, so it goes through a broker only. Every setting returns a
// new builder; push, pop, messages, ack, create, reset, delete and depth are where something happens.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { refuse, root } from '../../protocol/check.ts'
import type { EphemeralAck, EphemeralAckResult, EphemeralDepth, EphemeralOptions } from '../../protocol/ephemeral.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { Deliveries } from '../consume/deliveries.ts'
import type { Logger } from '../logger.ts'
import { payloadOf } from '../push-input.ts'
import { definitionOf, type QueueDefinition } from '../queue-definition.ts'
import type { Untyped } from '../untyped.ts'
import { ephemeralCalls, type Ask, type EphemeralCalls } from './ephemeral-calls.ts'
import { ephemeralMessage, type EphemeralMessage } from './ephemeral-message.ts'
import { ephemeralMessages, type MessagesPorts } from './ephemeral-messages.ts'
import { ephemeralGrammar, ephemeralPlan, type EphemeralGrammar, type EphemeralPlan } from './ephemeral-plan.ts'

export interface EphemeralInput<In> {
  readonly data: In
}

/** Whatever carries what an ack needs: a message, or its id and its group. */
export interface EphemeralRef {
  readonly id: string
  readonly consumerGroup?: string | undefined
}

/** `stale`: its lease has lapsed, it was settled before, or the queue lives no more; it may have come again to somebody else. */
export interface EphemeralOutcome {
  readonly success: boolean
  readonly id: string
  readonly outcome: EphemeralAckResult['outcome']
  /** It had no retry left and is gone. */
  readonly dropped: boolean
}

/** `failed` and `retry` bring it again until `retryLimit` is used up. */
export type EphemeralVerdict = Exclude<EphemeralAck['status'], 'undelivered'>

export interface Ephemeral<In, Out> extends EphemeralGrammar<Ephemeral<In, Out>>, AsyncIterable<EphemeralMessage<Out>> {
  /** All or none. Throws `queue_full` when the bounds are reached and the policy is `reject`. Never sent twice: a lost answer is `outcome_unknown`. */
  push(items: EphemeralInput<In> | readonly EphemeralInput<In>[]): Promise<{ readonly pushed: number }>
  /** What is there, at most `batch`; leased until acknowledged, unless `commitOnDelivery`. */
  pop(options?: { readonly signal?: AbortSignal | undefined }): Promise<EphemeralMessage<Out>[]>
  /** Messages as they come, for `for await`. The builder itself may be looped over, too. */
  messages(options?: { readonly signal?: AbortSignal | undefined }): Deliveries<EphemeralMessage<Out>>
  ack(message: EphemeralRef, status?: EphemeralVerdict): Promise<EphemeralOutcome>
  ack(messages: readonly EphemeralRef[], status?: EphemeralVerdict): Promise<readonly EphemeralOutcome[]>
  /** Keeps the options of `config` in the database, for every broker and beyond its end. Those left out become the defaults. */
  create(): Promise<{ readonly queue: string; readonly options: EphemeralOptions }>
  /** Drops every message, lease and group; what is configured stays. */
  reset(): Promise<{ readonly dropped: number }>
  /** Contents and configuration. */
  delete(): Promise<{ readonly existed: boolean }>
  /** The gauges of the broker that is asked; null when it holds no such queue and none is declared. */
  depth(): Promise<EphemeralDepth | null>
}

/** `lockstep.ephemeral(…)` in its three forms: a name, a declared queue, a name with a schema. */
export interface EphemeralEntry {
  <T = Untyped>(name: string): Ephemeral<T, T>
  <In, Out>(definition: QueueDefinition<string, In, Out>): Ephemeral<In, Out>
  <S extends StandardSchemaV1>(
    name: string,
    schema: S,
  ): Ephemeral<StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>>
  /** The ephemeral queues of the broker that is asked. */
  list(): Promise<readonly EphemeralDepth[]>
}

export interface EphemeralParts {
  readonly ask: Ask
  readonly log: Logger
  readonly inProcess: boolean
  readonly keep: MessagesPorts['keep']
}

type Parts = EphemeralParts & { readonly calls: EphemeralCalls }

const VERDICTS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'retry'])

const isList = (given: EphemeralRef | readonly EphemeralRef[]): given is readonly EphemeralRef[] => Array.isArray(given)

async function acknowledge(
  { calls }: Parts,
  plan: EphemeralPlan,
  refs: readonly EphemeralRef[],
  status: EphemeralVerdict,
): Promise<readonly EphemeralOutcome[]> {
  if (!VERDICTS.has(status)) refuse(root(), 'status', "'completed', 'failed' or 'retry'")
  const answers = new Map<EphemeralRef, EphemeralAckResult>()
  const groupOf = (ref: EphemeralRef): string => ref.consumerGroup ?? plan.group
  for (const group of new Set(refs.map(groupOf))) {
    const own = refs.filter((ref) => groupOf(ref) === group)
    const results = await calls.ack(
      plan.definition.name,
      group,
      own.map(({ id }) => ({ id, status })),
    )
    own.forEach((ref, at) => {
      const result = results[at]
      if (result !== undefined) answers.set(ref, result)
    })
  }
  return refs.map((ref) => {
    const { id, outcome, dropped = false } = answers.get(ref) ?? { id: ref.id, outcome: 'unknown' as const }
    return { success: outcome === 'acked' || outcome === 'redelivered', id, outcome, dropped }
  })
}

async function pop(parts: Parts, plan: EphemeralPlan, signal: AbortSignal): Promise<EphemeralMessage<Untyped>[]> {
  const { calls, log } = parts
  const delivered = await calls.pop(plan, plan.batch ?? 1, signal)
  const messages = await Promise.all(delivered.map(async (each) => ephemeralMessage(plan, each, log)))
  const refused = delivered.filter((_, at) => messages[at] === null)
  if (refused.length > 0 && !plan.commitOnDelivery) await acknowledge(parts, plan, refused, 'completed')
  return messages.filter((message) => message !== null)
}

function builder(parts: Parts, plan: EphemeralPlan): Ephemeral<Untyped, Untyped> {
  const { calls } = parts
  const { name, schema } = plan.definition

  async function ack(message: EphemeralRef, status?: EphemeralVerdict): Promise<EphemeralOutcome>
  async function ack(messages: readonly EphemeralRef[], status?: EphemeralVerdict): Promise<readonly EphemeralOutcome[]>
  async function ack(
    given: EphemeralRef | readonly EphemeralRef[],
    status: EphemeralVerdict = 'completed',
  ): Promise<EphemeralOutcome | readonly EphemeralOutcome[]> {
    if (isList(given)) return given.length === 0 ? [] : acknowledge(parts, plan, given, status)
    const [outcome] = await acknowledge(parts, plan, [given], status)
    if (outcome === undefined) throw new LockstepError('internal', 'an ack has no answer')
    return outcome
  }

  return {
    ...ephemeralGrammar(plan, (next) => builder(parts, next)),
    async push(items) {
      const list: readonly EphemeralInput<unknown>[] = Array.isArray(items) ? items : [items]
      if (list.length > LIMITS.ephemeralItems) {
        refuse(root(), 'items', `at most ${LIMITS.ephemeralItems}`, 'ephemeral_bad_request')
      }
      if (list.length === 0) return { pushed: 0 }
      const payloads = await Promise.all(
        list.map(async (item, at) => payloadOf(item?.data, name, schema, `items[${at}]`)),
      )
      return { pushed: await calls.push(plan, payloads) }
    },
    pop: async ({ signal } = {}) => pop(parts, plan, signal ?? new AbortController().signal),
    messages: ({ signal } = {}) => ephemeralMessages(parts, plan, signal),
    [Symbol.asyncIterator]: () => ephemeralMessages(parts, plan, undefined),
    ack,
    async create() {
      await calls.configure(plan)
      return { queue: name, options: plan.options }
    },
    reset: async () => ({ dropped: await calls.reset(name) }),
    delete: async () => ({ existed: (await calls.delete(name)).deleted }),
    depth: async () => calls.depth(name),
  }
}

export function ephemeralEntry(parts: EphemeralParts): EphemeralEntry {
  const whole = { ...parts, calls: ephemeralCalls(parts.ask) }
  function needBroker(): void {
    if (!parts.inProcess) return
    throw new LockstepError(
      'not_available',
      'an ephemeral queue lives in the memory of a broker: make the client with { url } (or use lockstep.queue(…), which PostgreSQL keeps)',
    )
  }
  function open(given: string | QueueDefinition<string, Untyped, Untyped>, schema?: StandardSchemaV1) {
    needBroker()
    return builder(whole, ephemeralPlan(definitionOf(given, schema)))
  }
  return Object.assign(open, {
    async list() {
      needBroker()
      return whole.calls.list()
    },
  })
}
