// An action: one named piece of work with a checked input, run as a job, as a node of a graph or called from code. Pure: it
// holds no connection and starts nothing.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { root, text } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import type { Completion } from '../../protocol/completion.ts'
import type { PgTx, StepContext } from './contexts.ts'
import { DEFINITION, type ActionDefinition } from './definition.ts'
import { demandCompletion, demandFunction, demandSchema } from './demand-parts.ts'
import type { Jsonified } from './jsonified.ts'
import {
  policyOf,
  type ConcurrencyOptions,
  type Duration,
  type RateOptions,
  type RetentionOptions,
  type RetryOptions,
} from './policy.ts'
import type { Typed } from './submitter.ts'
import { enqueueVerbs, submitVerbs, type EnqueueVerbs, type SubmitVerbs } from './verbs.ts'

export interface ActionSpec<Name extends string, S extends StandardSchemaV1, Tx> {
  readonly name: Name
  /** Any Standard Schema: checked at submit and again at run. */
  readonly input: S
  readonly retry?: RetryOptions | undefined
  /** Of one attempt; then its abortSignal fires and it fails. */
  readonly timeout?: Duration | undefined
  readonly concurrency?: number | ConcurrencyOptions<StandardSchemaV1.InferInput<S>> | undefined
  readonly rate?: RateOptions<StandardSchemaV1.InferInput<S>> | undefined
  /** Higher first, from -100 to 100; default 0. */
  readonly priority?: number | undefined
  /** Only workers that serve this queue run it; default 'default'. */
  readonly queue?: string | undefined
  /** The library in whose transaction it completes; default `pg`. */
  readonly completion?: Completion<Tx> | undefined
  readonly retention?: RetentionOptions | undefined
}

export interface Action<Name extends string, In, Out>
  extends Typed<In, Out>, SubmitVerbs<In, Out>, EnqueueVerbs<In, Out> {
  readonly name: Name
  readonly [DEFINITION]: ActionDefinition
}

const nameField = text({
  min: 1,
  max: LIMITS.nameBytes,
  longCode: 'name_too_long',
  rule: (name) => (/^(?:plan|flow):/.test(name) ? "a name that does not begin with 'plan:' or 'flow:'" : null),
})

const queueField = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })

const OPTIONS = [
  'name',
  'input',
  'retry',
  'timeout',
  'concurrency',
  'rate',
  'priority',
  'queue',
  'completion',
  'retention',
]

export function definedName(name: string, what: string): string {
  return nameField.read(name, root(), what)
}

export function action<const Name extends string, S extends StandardSchemaV1, Out, Tx = PgTx>(
  spec: ActionSpec<Name, S, Tx>,
  handler: (ctx: StepContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
): Action<Name, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>> {
  definedName(spec.name, 'action name')
  onlyKnown(spec, OPTIONS, `action '${spec.name}'`)
  demandSchema(spec.input, `action '${spec.name}'`)
  demandFunction(handler, `the handler of action '${spec.name}'`)
  demandCompletion(spec.completion, `action '${spec.name}'`)
  const definition: ActionDefinition = Object.freeze({
    kind: 'action' as const,
    name: spec.name,
    schema: spec.input,
    policy: policyOf(spec),
    queue: spec.queue === undefined ? 'default' : queueField.read(spec.queue, root(), 'queue'),
    // Whoever runs the handler opens the transaction by this same completion, so the two types always meet again.
    completion: spec.completion ?? null,
    handler,
  })
  type In = StandardSchemaV1.InferInput<S>
  type Result = Jsonified<Awaited<Out>>
  const self: Action<Name, In, Result> = Object.freeze({
    name: spec.name,
    [DEFINITION]: definition,
    ...submitVerbs<In, Result>(() => self),
    ...enqueueVerbs<In, Result>(() => self),
  })
  return self
}
