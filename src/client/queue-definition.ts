// A queue declared as a value: its name and the schema of its payloads, imported by producer and consumer alike so that
// neither can drift. `queue('orders')` without a schema is untyped on purpose.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { refuse, root } from '../protocol/check.ts'
import { queueName } from '../protocol/names.ts'
import type { Untyped } from './untyped.ts'

export interface QueueDefinition<Name extends string, In, Out> {
  readonly name: Name
  readonly schema: StandardSchemaV1<In, Out> | null
}

export function queue<const Name extends string>(name: Name): QueueDefinition<Name, Untyped, Untyped>
export function queue<const Name extends string, S extends StandardSchemaV1>(
  name: Name,
  schema: S,
): QueueDefinition<Name, StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>>
export function queue(name: string, schema?: StandardSchemaV1): QueueDefinition<string, unknown, unknown> {
  // The wire knows a queue called '', which no pop over HTTP can name: here it would be half a queue.
  if (name === '') refuse(root(), 'queue', 'a name that is not empty')
  return Object.freeze({ name: queueName.read(name, root(), 'queue'), schema: schema ?? null })
}

/** What `lockstep.queue(…)` was given, as a definition. */
export function definitionOf(
  given: string | QueueDefinition<string, unknown, unknown>,
  schema?: StandardSchemaV1,
): QueueDefinition<string, unknown, unknown> {
  if (typeof given === 'object' && given !== null && 'schema' in given) return given
  if (typeof given !== 'string') return refuse(root(), 'queue', 'a name or a declared queue')
  return schema === undefined ? queue(given) : queue(given, schema)
}
