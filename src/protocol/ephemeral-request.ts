// Decodes the calls of ephemeral queues. Every fault of a field has the code `ephemeral_bad_request`.
import { booleanText, integerText, oneOf, optional, readFields, refuse, root, text } from './check.ts'
import type { Field, Place } from './check.ts'
import { ephemeralOptions } from './ephemeral-options.ts'
import type { EphemeralAck, EphemeralOptions, EphemeralPop } from './ephemeral.ts'
import { LockstepError } from './errors.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_PARTITION, QUEUE_MODE } from './message.ts'
import { errorText, groupName, noDots, partitionName } from './names.ts'
import { payloadFault } from './push-request.ts'
import { arrayOf, bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

export const ephemeralName: Field<string> = text({ min: 1, max: LIMITS.nameBytes, rule: noDots })

/** Every fault of the decoding gets the family's own code. */
function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof LockstepError) || error.status !== 400) throw error
    throw new LockstepError('ephemeral_bad_request', error.message, error.details)
  }
}

export interface EphemeralConfigure {
  readonly queue: string
  readonly options: EphemeralOptions
}

export const decodeEphemeralConfigure = (body: RequestBody): EphemeralConfigure =>
  told(() => {
    const place = bodyPlace()
    const request = recordOf(sliced(body, {}).envelope, place)
    const { queue } = readFields({ queue: ephemeralName }, request, place)
    const given = Object.hasOwn(request, 'options') ? (request['options'] ?? {}) : {}
    return { queue, options: ephemeralOptions(given, { parent: place, step: 'options' }) }
  })

export const EPHEMERAL_PUSH = { queue: ephemeralName, partition: optional(partitionName, DEFAULT_PARTITION) } as const

export interface EphemeralPush {
  readonly queue: string
  readonly partition: string
  readonly payloads: readonly string[]
}

const PUSH_SHAPE = inObject({ messages: inArray(inObject({ payload: CUT })) })

export const decodeEphemeralPush = (body: RequestBody): EphemeralPush =>
  told(() => {
    const place = bodyPlace()
    const { envelope, pieces } = sliced(body, PUSH_SHAPE)
    const request = recordOf(envelope, place)
    const { queue, partition } = readFields(EPHEMERAL_PUSH, request, place)
    if (!Object.hasOwn(request, 'messages')) refuse(place, 'messages', 'an array')
    const at: Place = { parent: { parent: place, step: 'messages' }, step: 0 }
    const payloads = arrayOf(request, 'messages', place, LIMITS.ephemeralItems).map((element, index) => {
      at.step = index
      const piece = pieceOf(pieces, recordOf(element, at), 'payload')
      if (piece === null) refuse(at, 'payload', 'present: any JSON value')
      const fault = payloadFault(piece)
      if (fault !== null) refuse(at, 'payload', fault)
      return piece.text
    })
    return { queue, partition, payloads }
  })

export const EPHEMERAL_POP = {
  queue: ephemeralName,
  partition: optional(partitionName, null),
  group: optional(groupName, QUEUE_MODE),
  batch: optional(integerText(1, LIMITS.popBatch), 1),
  wait: optional(booleanText, false),
  timeout: optional(integerText(0, LIMITS.popTimeoutMs), LIMITS.popTimeoutDefaultMs),
  autoAck: optional(booleanText, false),
  commitOnDelivery: optional(booleanText, false),
} as const

export const decodeEphemeralPop = (query: Readonly<Record<string, string>>): EphemeralPop =>
  told(() => {
    const read = readFields(EPHEMERAL_POP, query, root())
    return {
      queue: read.queue,
      partition: read.partition,
      group: read.group,
      batch: read.batch,
      waitMs: read.wait ? read.timeout : 0,
      commit: read.autoAck || read.commitOnDelivery,
    }
  })

export const EPHEMERAL_ACK = { queue: ephemeralName, group: optional(groupName, QUEUE_MODE) } as const
export const EPHEMERAL_ACK_ITEM = {
  id: text({ min: 1, max: LIMITS.nameBytes }),
  status: optional(oneOf('completed', 'failed', 'retry'), 'completed'),
  error: optional(errorText, null),
} as const

export interface EphemeralAcks {
  readonly queue: string
  readonly group: string
  readonly acks: readonly EphemeralAck[]
}

export const decodeEphemeralAck = (body: RequestBody): EphemeralAcks =>
  told(() => {
    const place = bodyPlace()
    const request = recordOf(sliced(body, {}).envelope, place)
    const { queue, group } = readFields(EPHEMERAL_ACK, request, place)
    const at: Place = { parent: { parent: place, step: 'acks' }, step: 0 }
    const acks = arrayOf(request, 'acks', place, LIMITS.ackItems).map((element, index) => {
      at.step = index
      const { id, status } = readFields(EPHEMERAL_ACK_ITEM, recordOf(element, at), at)
      return { id, status }
    })
    return { queue, group, acks }
  })

export const decodeEphemeralName = (source: unknown): string =>
  told(() => readFields({ queue: ephemeralName }, source, bodyPlace()).queue)
