// The body of routes that take several operations: {"operations": […]} with an optional request id, or the bare array. Each of
// these routes tells its faults in its own way: the code is the route's, `reason` says which part was wrong.
import { readFields, root } from './check.ts'
import type { Field, Place } from './check.ts'
import { LockstepError } from './errors.ts'
import { inEither, inObject } from './json-slices.ts'
import type { Piece, Shape } from './json-slices.ts'
import { recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

export type FaultOf = (reason: string, detail: string) => LockstepError

export interface OperationsBody {
  readonly requestId: string | null
  readonly elements: readonly unknown[]
  readonly pieces: readonly Piece[]
  readonly place: Place
}

/** Makes fields that tell their faults in the route's way; `absent` is the reason when the field is not there at all. */
export function becauseOf(faultOf: FaultOf): <T>(reason: string, field: Field<T>, absent?: string) => Field<T> {
  return (reason, field, absent = reason) => ({
    ...field,
    read(value, place, name) {
      try {
        return field.read(value, place, name)
      } catch (error) {
        if (!(error instanceof LockstepError)) throw error
        throw faultOf(value === undefined || value === null ? absent : reason, error.message)
      }
    },
  })
}

/** Of the whole body, from that of the array. */
export const eitherOf = (listed: Shape): Shape => inEither(listed, inObject({ operations: listed }))

/** `shape` as `eitherOf` makes it; `badBody` the reason when there is no list of operations. */
export function operationsBody(
  body: RequestBody,
  shape: Shape,
  fields: { readonly requestId: Field<string | null> },
  faultOf: FaultOf,
  badBody: string,
): OperationsBody {
  const told = <T>(read: () => T, detail: string | null): T => {
    try {
      return read()
    } catch (error) {
      throw error instanceof LockstepError ? faultOf(badBody, detail ?? error.message) : error
    }
  }
  const { envelope, pieces } = told(() => sliced(body, shape), null)
  if (Array.isArray(envelope)) return { requestId: null, elements: envelope, pieces, place: root() }
  const request = told(
    () => recordOf(envelope, root()),
    'the body must be {"operations": […]} or an array of operations',
  )
  const elements = Object.hasOwn(request, 'operations') ? request['operations'] : undefined
  if (!Array.isArray(elements)) throw faultOf(badBody, 'operations must be an array')
  const { requestId } = readFields(fields, request, root())
  return { requestId, elements, pieces, place: { parent: root(), step: 'operations' } }
}
