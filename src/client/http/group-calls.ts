// The calls about consumer groups as routes of the wire, and their answers.
import { boolean, integer, optional } from '../../protocol/check.ts'
import type { SeekTarget } from '../../protocol/group-info.ts'
import type { GroupCalls } from '../groups/groups-client.ts'
import { amount, fieldsIn, namedIn, plainNumber, plainText, readAnswer, recordIn, recordsIn } from './answer-reader.ts'
import { queryText, type Routes } from './routes.ts'

const LISTED = {
  group: ['name', plainText],
  queue: ['queueName', plainText],
  createdAt: ['subscriptionCreatedAt', plainText],
  subscriptionMode: ['subscriptionMode', plainText],
  startsAt: ['subscriptionTimestamp', optional(plainText, null)],
  cursors: ['partitionCursors', amount],
  partitionsWithLag: ['partitionsWithLag', amount],
  totalLag: ['totalLag', amount],
  leased: ['members', amount],
  maxTimeLagSeconds: ['maxTimeLag', plainNumber],
  conflation: ['conflation', boolean],
} as const
const LANE = {
  partition: plainText,
  workerId: optional(plainText, null),
  leaseActive: boolean,
  leaseExpiresAt: optional(plainText, null),
  committed: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
  offsetLag: amount,
  timeLagSeconds: plainNumber,
  failures: amount,
  crashes: amount,
} as const
const DEPTH = { queue: plainText, group: plainText, pending: amount, partitionsPending: amount, conflation: boolean }
const WAITING = { partition: plainText, pending: amount } as const

const ALL = '/api/v1/consumer-groups'

function seekBody(to: SeekTarget): string {
  if (to === 'end') return '{"toEnd":true}'
  return JSON.stringify({ timestamp: to === 'start' ? '1970-01-01T00:00:00Z' : to.timestamp })
}

export function httpGroupCalls({ read, find, post, remove }: Routes): GroupCalls {
  const at = (group: string, queue: string | null, partition: string | null = null): string =>
    `${ALL}/${encodeURIComponent(group)}${queue === null ? '' : `/queues/${encodeURIComponent(queue)}`}${
      partition === null ? '' : `/partitions/${encodeURIComponent(partition)}`
    }`

  return {
    async list(queue) {
      const { envelope } = readAnswer(await read(`${ALL}${queryText({ queue })}`), {})
      return recordsIn(envelope, null).map((source) => namedIn(LISTED, source))
    },

    async show(group) {
      const queues = Object.entries(recordIn(readAnswer(await read(at(group, null)), {}).envelope))
      return queues.flatMap(([queue, source]) => {
        const of = recordIn(source)
        const { conflation } = fieldsIn({ conflation: boolean }, of)
        return recordsIn(of['partitions'], null).map((each) => {
          const { workerId: leaseId, ...lane } = fieldsIn(LANE, each)
          return { queue, leaseId, ...lane, conflation }
        })
      })
    },

    async depth(queue, group) {
      const path = `/api/v1/resources/queues/${encodeURIComponent(queue)}/depth${queryText({ group })}`
      const text = await find(path)
      if (text === null) return null
      const envelope = recordIn(readAnswer(text, {}).envelope)
      const partitions = recordsIn(envelope['partitions'], null).map((source) => fieldsIn(WAITING, source))
      return { ...fieldsIn(DEPTH, envelope), partitions }
    },

    async seek({ group, queue, partition, to }) {
      const answer = await post(`${at(group, queue, partition)}/seek`, seekBody(to), true)
      return fieldsIn({ partitionsUpdated: amount }, readAnswer(answer, {}).envelope).partitionsUpdated
    },

    async delete({ group, queue, metadata }) {
      const answer = await remove(`${at(group, queue)}?deleteMetadata=${metadata}`)
      return fieldsIn({ deletedPartitions: amount }, readAnswer(answer, {}).envelope).deletedPartitions
    },

    async setSubscription(group, subscriptionTimestamp) {
      const answer = await post(`${at(group, null)}/subscription`, JSON.stringify({ subscriptionTimestamp }), true)
      return fieldsIn({ rowsUpdated: amount }, readAnswer(answer, {}).envelope).rowsUpdated
    },
  }
}
