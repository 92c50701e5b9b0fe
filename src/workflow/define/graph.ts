// The types of a declared graph: what a mapping function may read (its declared predecessors only), what a child sees of a
// node that may be missing, and that no name is declared twice. Accumulated by intersection, which stays fast for hundreds.
import type { Action } from './action.ts'
import type { DEFINITION, GraphDefinition, OnFailure } from './definition.ts'
import type { StoredError } from './failures.ts'
import type { Typed } from './submitter.ts'
import type { SubmitVerbs } from './verbs.ts'

export type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: StoredError }

/** What a mapping function is given: the run's input and the outputs of the declared predecessors. */
export type Given<In, N, After extends keyof N> = {
  readonly input: In
  readonly outputs: { readonly [K in After]: N[K] } & {}
}
export type Fresh<N, Id extends string> = Id extends keyof N ? { readonly ERROR: `node '${Id}' is declared twice` } : Id
/** The name of a node that may be skipped: by its policy, its condition, or with all that it comes after. */
export type Skipped<Id, After, S, P, C> = P extends 'skip'
  ? Id
  : [C] extends [never]
    ? [After] extends [never]
      ? never
      : [After] extends [S]
        ? Id
        : never
    : Id
export type Seen<Out, P, Skip> = P extends 'continue' ? Out | undefined : [Skip] extends [never] ? Out : Out | undefined

/** What an action that undoes another is given. */
export interface Compensation<In, Out> {
  readonly input: In
  readonly output: Out
}

export interface NodeOptions<In, N, After extends keyof N, P, C, AIn, AOut> {
  readonly after?: readonly After[] | undefined
  /** False: the node is skipped, and so is what only hangs on skipped nodes. */
  readonly when?: ((given: Given<In, N, NoInfer<After>>) => C) | undefined
  /**
   * fail (default): the run fails. skip: as with a `when` that is false; what only hangs on skipped nodes is skipped too.
   * continue: children run and see undefined. compensate: as fail.
   */
  readonly onFailure?: P | undefined
  /** Undoes this node when the run fails later; the last that was done is undone first. */
  readonly compensate?: Action<string, Compensation<AIn, AOut>, unknown> | undefined
}

export interface MapItem<AIn> {
  /** Names the item: its node is `<node>[<key>]`. */
  readonly key: string
  readonly input: AIn
}

export interface Workflow<Name extends string, In, Out> extends Typed<In, Out>, SubmitVerbs<In, Out> {
  readonly name: Name
  readonly [DEFINITION]: GraphDefinition
}

/** N: the nodes and their outputs. S: those that may be skipped. */
export interface Graph<Name extends string, In, N extends object, S extends string = never> extends Workflow<
  Name,
  In,
  { readonly [K in keyof N]: N[K] }
> {
  node<
    const Id extends string,
    AIn,
    AOut,
    const After extends keyof N & string = never,
    const P extends OnFailure = 'fail',
    C extends boolean = never,
  >(
    id: Id & Fresh<N, Id>,
    action: Action<string, AIn, AOut>,
    input: (given: Given<In, N, NoInfer<After>>) => NoInfer<AIn>,
    options?: NodeOptions<In, N, After, P, C, NoInfer<AIn>, NoInfer<AOut>>,
  ): Graph<Name, In, N & { [K in Id]: Seen<AOut, P, Skipped<Id, After, S, P, C>> }, S | Skipped<Id, After, S, P, C>>
  map<
    const Id extends string,
    AIn,
    AOut,
    const After extends keyof N & string = never,
    const P extends OnFailure = 'fail',
    C extends boolean = never,
  >(
    id: Id & Fresh<N, Id>,
    action: Action<string, AIn, AOut>,
    items: (given: Given<In, N, NoInfer<After>>) => Iterable<MapItem<NoInfer<AIn>>>,
    options?: NodeOptions<In, N, After, P, C, NoInfer<AIn>, NoInfer<AOut>> & {
      /** How many of this map's items run at once in each run. Not together with a limit of its action. */
      readonly limit?: number | undefined
    },
  ): Graph<
    Name,
    In,
    N & { [K in Id]: Readonly<Record<string, P extends 'fail' ? AOut : Settled<AOut>>> },
    S | Skipped<Id, After, S, P, C>
  >
  /** What `result()` gives instead of the record of all outputs. */
  output<Out>(of: (given: Given<In, N, keyof N>) => Out): Workflow<Name, In, Out>
}
