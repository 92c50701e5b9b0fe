// A workflow: a declared graph when no function is given, plain code with named durable steps when one is. Pure.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { definedName } from './action.ts'
import type { Completion } from '../../protocol/completion.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import type { CodeContext, PgTx } from './contexts.ts'
import { DEFINITION, type CodeDefinition } from './definition.ts'
import { demandCompletion, demandFunction, demandSchema } from './demand-parts.ts'
import type { Graph } from './graph.ts'
import { typedGraph } from './graph-builder.ts'
import type { Jsonified } from './jsonified.ts'
import { policyOf, type Duration, type RetentionOptions, type RetryOptions } from './policy.ts'
import type { Typed } from './submitter.ts'
import { submitVerbs, type SubmitVerbs } from './verbs.ts'

export interface GraphSpec<Name extends string, S extends StandardSchemaV1> {
  readonly name: Name
  readonly input: S
  readonly priority?: number | undefined
  readonly retention?: RetentionOptions | undefined
}

export interface CodeSpec<Name extends string, S extends StandardSchemaV1, Tx> extends GraphSpec<Name, S> {
  /** Of the code as a whole: steps that are recorded are not done again. */
  readonly retry?: RetryOptions | undefined
  /** Of one attempt. */
  readonly timeout?: Duration | undefined
  /** Runs keep to workers that name the same version. Without it any worker that has the workflow goes on with its runs. */
  readonly version?: string | undefined
  readonly completion?: Completion<Tx> | undefined
}

export interface CodeWorkflow<Name extends string, In, Out> extends Typed<In, Out>, SubmitVerbs<In, Out> {
  readonly name: Name
  readonly [DEFINITION]: CodeDefinition
}

const OF_GRAPH = ['name', 'input', 'priority', 'retention']
const OF_CODE = [...OF_GRAPH, 'retry', 'timeout', 'version', 'completion']

export function workflow<const Name extends string, S extends StandardSchemaV1>(
  spec: GraphSpec<Name, S>,
): Graph<Name, StandardSchemaV1.InferInput<S>, object>
export function workflow<const Name extends string, S extends StandardSchemaV1, Out, Tx = PgTx>(
  spec: CodeSpec<Name, S, Tx>,
  code: (ctx: CodeContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
): CodeWorkflow<Name, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>>
export function workflow(
  spec: CodeSpec<string, StandardSchemaV1, unknown>,
  code?: (ctx: CodeContext<unknown>, input: unknown) => unknown,
): Graph<string, unknown, object> | CodeWorkflow<string, unknown, unknown> {
  const name = definedName(spec.name, 'workflow name')
  const what = `workflow '${name}'`
  onlyKnown(spec, code === undefined ? OF_GRAPH : OF_CODE, what)
  demandSchema(spec.input, what)
  if (code !== undefined) demandFunction(code, `the code of ${what}`)
  demandCompletion(spec.completion, what)
  const base = { name, schema: spec.input, policy: policyOf(spec) }
  if (code === undefined) return typedGraph({ ...base, kind: 'graph' as const })
  const definition: CodeDefinition = {
    ...base,
    kind: 'code',
    version: spec.version === undefined ? '' : definedName(spec.version, 'version'),
    completion: spec.completion ?? null,
    handler: code,
  }
  const self: CodeWorkflow<string, unknown, unknown> = Object.freeze({
    name,
    [DEFINITION]: definition,
    ...submitVerbs<unknown, unknown>(() => self),
  })
  return self
}
