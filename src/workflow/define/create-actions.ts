// `action` and `workflow` bound to one completion, so that a program names its library once.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { action, type Action, type ActionSpec } from './action.ts'
import type { Completion } from '../../protocol/completion.ts'
import type { CodeContext, StepContext } from './contexts.ts'
import type { Graph } from './graph.ts'
import type { Jsonified } from './jsonified.ts'
import { workflow, type CodeSpec, type CodeWorkflow, type GraphSpec } from './workflow.ts'

type BoundAction<Tx> = <const Name extends string, S extends StandardSchemaV1, Out>(
  spec: Omit<ActionSpec<Name, S, Tx>, 'completion'>,
  handler: (ctx: StepContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
) => Action<Name, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>>

interface BoundWorkflow<Tx> {
  <const Name extends string, S extends StandardSchemaV1>(
    spec: GraphSpec<Name, S>,
  ): Graph<Name, StandardSchemaV1.InferInput<S>, object>
  <const Name extends string, S extends StandardSchemaV1, Out>(
    spec: Omit<CodeSpec<Name, S, Tx>, 'completion'>,
    code: (ctx: CodeContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
  ): CodeWorkflow<Name, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>>
}

export interface BoundDefinitions<Tx> {
  readonly action: BoundAction<Tx>
  readonly workflow: BoundWorkflow<Tx>
}

export function createActions<Tx>({ completion }: { readonly completion: Completion<Tx> }): BoundDefinitions<Tx> {
  function bound<const Name extends string, S extends StandardSchemaV1>(
    spec: GraphSpec<Name, S>,
  ): Graph<Name, StandardSchemaV1.InferInput<S>, object>
  function bound<const Name extends string, S extends StandardSchemaV1, Out>(
    spec: Omit<CodeSpec<Name, S, Tx>, 'completion'>,
    code: (ctx: CodeContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
  ): CodeWorkflow<Name, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>>
  function bound<S extends StandardSchemaV1, Out>(
    spec: CodeSpec<string, S, Tx>,
    code?: (ctx: CodeContext<Tx>, input: StandardSchemaV1.InferOutput<S>) => Promise<Out> | Out,
  ):
    | Graph<string, StandardSchemaV1.InferInput<S>, object>
    | CodeWorkflow<string, StandardSchemaV1.InferInput<S>, Jsonified<Awaited<Out>>> {
    return code === undefined ? workflow(spec) : workflow({ ...spec, completion }, code)
  }
  return { action: (spec, handler) => action({ ...spec, completion }, handler), workflow: bound }
}
