// What stands behind an action or a workflow: plain data without type parameters, for whoever submits, plans or runs it.
// Reached through one property that no editor offers first, the same in every copy of this package.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { LockstepError } from '../../protocol/errors.ts'
import type { Completion } from '../../protocol/completion.ts'
import type { Policy } from './policy.ts'

export const DEFINITION = '~lockstep'

export type Kind = 'action' | 'code' | 'graph'

/** What planning functions are given. */
export interface Givens {
  readonly input: unknown
  readonly outputs: Readonly<Record<string, unknown>>
}

export type OnFailure = 'fail' | 'skip' | 'continue' | 'compensate'

export interface GraphNode {
  readonly name: string
  readonly kind: 'node' | 'map'
  readonly action: ActionDefinition
  /** Names of predecessors. */
  readonly after: readonly string[]
  readonly onFailure: OnFailure
  readonly compensate: ActionDefinition | null
  readonly when: ((givens: Givens) => unknown) | null
  /** Of a node its input, of a map its items. */
  readonly input: (givens: Givens) => unknown
  readonly limit: number | null
}

interface Common {
  readonly name: string
  readonly schema: StandardSchemaV1
  readonly policy: Policy
}

export interface ActionDefinition extends Common {
  readonly kind: 'action'
  readonly queue: string
  readonly completion: Completion<unknown> | null
  readonly handler: (context: never, input: never) => unknown
}

export interface CodeDefinition extends Common {
  readonly kind: 'code'
  /** Only when runs shall keep to workers that name the same; '' otherwise. */
  readonly version: string
  readonly completion: Completion<unknown> | null
  readonly handler: (context: never, input: never) => unknown
}

export interface GraphDefinition extends Common {
  readonly kind: 'graph'
  readonly version: string
  readonly nodes: readonly GraphNode[]
  readonly output: ((givens: Givens) => unknown) | null
  /** The nodes as they are registered. */
  readonly shape: string
}

export type Definition = ActionDefinition | CodeDefinition | GraphDefinition

export interface Defined {
  readonly [DEFINITION]: Definition
}

export function definitionIn(given: Defined): Definition {
  if (typeof given === 'object' && given !== null && DEFINITION in given) return given[DEFINITION]
  throw new LockstepError('bad_request', 'what is submitted, called or registered must be an action or a workflow')
}
