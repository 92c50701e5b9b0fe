// Traces over the wire. Their data and the payloads of their messages are the text that travelled.
import { list, optional } from '../../protocol/check.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { Trace } from '../../protocol/trace.ts'
import type { TraceCalls } from '../traces/traces-client.ts'
import { amount, fieldsIn, namedIn, plainText, readAnswer, recordIn, recordsIn, textIn } from './answer-reader.ts'
import type { Answer, AnswerRecord } from './answer-reader.ts'
import { queryText, type Routes } from './routes.ts'

const maybe = optional(plainText, null)
const TRACE = {
  id: ['id', plainText],
  eventType: ['event_type', plainText],
  group: ['consumer_group', maybe],
  workerId: ['worker_id', maybe],
  createdAt: ['created_at', plainText],
  names: ['trace_names', list(LIMITS.traceNames, plainText)],
} as const
const MESSAGE = {
  transactionId: ['transaction_id', plainText],
  partitionId: ['partition_id', plainText],
  queue: ['queue_name', maybe],
  partition: ['partition_name', maybe],
} as const
const NAME = {
  name: ['trace_name', plainText],
  traces: ['trace_count', amount],
  messages: ['message_count', amount],
  lastSeen: ['last_seen', plainText],
} as const
const TOTAL = { total: amount } as const
const PAGE = inObject({ traces: inArray(inObject({ data: CUT, message_payload: CUT })) })

const ALL = '/api/v1/traces'

function traceIn(answer: Answer, source: AnswerRecord): Trace {
  return { ...namedIn(TRACE, source), data: textIn(answer, source, 'data') ?? 'null' }
}

export function httpTraceCalls({ read, post }: Routes): TraceCalls {
  return {
    async add({ data, group, names, ...trace }) {
      const fields = JSON.stringify({ ...trace, consumerGroup: group, traceNames: names })
      // One that arrived twice would be noted twice.
      const answer = await post(ALL, `${fields.slice(0, -1)},"data":${data}}`, false)
      return fieldsIn({ traceId: plainText }, readAnswer(answer, {}).envelope).traceId
    },

    async ofMessage({ partitionId, transactionId }, limit) {
      const path = `${ALL}/${encodeURIComponent(partitionId)}/${encodeURIComponent(transactionId)}`
      const answer = readAnswer(await read(`${path}${queryText({ limit })}`), PAGE)
      return recordsIn(recordIn(answer.envelope)['traces'], null).map((source) => traceIn(answer, source))
    },

    async ofName(name, page) {
      const path = `${ALL}/by-name/${encodeURIComponent(name)}${queryText({ ...page })}`
      const answer = readAnswer(await read(path), PAGE)
      const traces = recordsIn(recordIn(answer.envelope)['traces'], null).map((source) => ({
        ...traceIn(answer, source),
        ...namedIn(MESSAGE, source),
        payload: textIn(answer, source, 'message_payload'),
      }))
      return { traces, ...fieldsIn(TOTAL, answer.envelope) }
    },

    async names(page) {
      const { envelope } = readAnswer(await read(`${ALL}/names${queryText({ ...page })}`), {})
      const names = recordsIn(recordIn(envelope)['trace_names'], null).map((source) => namedIn(NAME, source))
      return { names, ...fieldsIn(TOTAL, envelope) }
    },
  }
}
