// Encodes the answers of the hot routes by concatenation. Payloads and values are JSON text already and are written as they
// stand: nothing here parses or re-prints one.
import type { AckRequest } from './ack-request.ts'
import type { KvAnswer, KvResult, KvRow } from './kv.ts'
import type { AckResult, Delivery, PushResult } from './message.ts'
import type { PushRequest } from './push-request.ts'
import type { SubmittedRun } from './run.ts'
import { timerResult } from './timer-answers.ts'
import type { TimerOperation } from './timer.ts'
import type { StepOperation, TransactionResult } from './transaction.ts'

const quote = (text: string): string => JSON.stringify(text)
const quoteOrNull = (text: string | null): string => (text === null ? 'null' : JSON.stringify(text))

/** The answer of a push, in request order; refused items are told apart by their error. */
export function encodePush(request: PushRequest, results: readonly PushResult[]): string {
  const total = request.items.length + request.refused.size
  const parts: string[] = []
  let next = 0
  for (let index = 0; index < total; index++) {
    const refused = request.refused.get(index)
    if (refused) {
      parts.push(
        `{"index":${index},"message_id":"00000000-0000-0000-0000-000000000000","transaction_id":${quote(refused.transactionId)},` +
          `"queueName":${quote(refused.queue)},"status":"error","error":${quote(refused.error)}}`,
      )
      continue
    }
    const item = request.items[next]
    const result = results[next]
    next += 1
    if (item && result) parts.push(pushed(index, item.queue, result))
  }
  return `[${parts.join(',')}]`
}

function pushed(index: number, queue: string, result: PushResult): string {
  const offset = result.offset === null ? '' : `,"offset":${result.offset}`
  const conflict = result.conflict ? ',"conflict":true' : ''
  const error = result.error === null ? '' : `,"error":${quote(result.error)}`
  return (
    `{"index":${index},"message_id":"${result.messageId}","transaction_id":${quote(result.transactionId)},` +
    `"queueName":${quote(queue)},"status":"${result.status}"${offset}${conflict}${error}}`
  )
}

/** What an answer says of conflation: whether the group does, and whether the pop had asked for something else. */
export interface Conflated {
  readonly conflation: boolean
  readonly conflict: boolean
}

/** The answer of a pop. A discovery pop names no queue. */
export function encodePop(
  queue: string,
  group: string,
  messages: readonly Delivery[],
  { conflation, conflict }: Conflated = { conflation: false, conflict: false },
): string {
  const flags = (conflation ? ',"conflation":true' : '') + (conflict ? ',"conflationConflict":true' : '')
  const first = messages[0]
  if (!first) return `{"success":true,"queue":${quote(queue)},"messages":[],"partitionsClaimed":0${flags}}`
  const consumerGroup = quote(group)
  const leaseId = quote(first.leaseId)
  let partitionId = ''
  let partition = ''
  let tail = ''
  let claimed = 0
  const parts: string[] = []
  for (const message of messages) {
    if (message.partitionId !== partitionId) {
      partitionId = message.partitionId
      partition = quote(message.partition)
      tail = `"partitionId":"${partitionId}","partition":${partition},"leaseId":${leaseId},"consumerGroup":${consumerGroup},"deliveryAttempt":`
      claimed += 1
    }
    parts.push(
      `{"id":"${message.id}","transactionId":${quote(message.transactionId)},"traceId":${quoteOrNull(message.traceId)},` +
        `"data":${message.payload},"producerSub":${quoteOrNull(message.producerSub)},"createdAt":"${message.createdAt}",` +
        `${tail}${message.deliveryAttempt},"offset":${message.offset}}`,
    )
  }
  return (
    `{"success":true,"queue":${quote(queue)},"partition":${quote(first.partition)},"partitionId":"${first.partitionId}",` +
    `"leaseId":${leaseId},"consumerGroup":${consumerGroup},"messages":[${parts.join(',')}],"partitionsClaimed":${claimed}${flags}}`
  )
}

/** The answer of an ack: one entry per entry of the request, in its order. */
export function encodeAck(request: AckRequest, results: readonly AckResult[]): string {
  let next = 0
  const parts = request.transactionIds.map((transactionId, index) => {
    const refused = request.refused.get(index)
    const result = refused === undefined ? results[next++] : undefined
    return (
      `{"index":${index},"transactionId":${quoteOrNull(transactionId)},"success":${result?.success ?? false},` +
      `"error":${quoteOrNull(refused ?? result?.error ?? null)},"leaseReleased":${result?.leaseReleased ?? false},` +
      `"dlq":${result?.dlq ?? false},"noop":${result?.noop ?? false}${result?.conflated === undefined ? '' : `,"conflated":${result.conflated}`}}`
    )
  })
  return `[${parts.join(',')}]`
}

export function encodeKv(answer: KvAnswer): string {
  if (!answer.ok) {
    return (
      `{"ok":false,"reason":"kv_precondition","failedIndex":${answer.failedIndex},"kvReason":"${answer.kvReason}",` +
      `"version":${answer.version},"value":${answer.value}}`
    )
  }
  return `{"results":[${answer.results.map((result, index) => `{"index":${index},${kvResult(result)}}`).join(',')}]}`
}

/** The fields of one result, without braces. */
export function kvResult(result: KvResult): string {
  const op = `"op":"${result.op}"`
  switch (result.op) {
    case 'get':
      return result.found ? `${op},"found":true,${kvRow(result.row)}` : `${op},"found":false,"key":${quote(result.key)}`
    case 'getMany':
      return `${op},"rows":[${rows(result.rows)}],"missing":${JSON.stringify(result.missing)},"truncated":${result.truncated}`
    case 'getPrefix':
      return `${op},"rows":[${rows(result.rows)}],"truncated":${result.truncated},"nextAfter":${quoteOrNull(result.nextAfter)}`
    default: {
      const value = result.op === 'check' && result.applied ? '' : `,"value":${result.value}`
      const reason = result.reason === null ? '' : `,"reason":"${result.reason}"`
      return `${op},"applied":${result.applied},"key":${quote(result.key)}${value},"version":${result.version}${reason}`
    }
  }
}

const rows = (list: readonly KvRow[]): string => list.map((row) => `{${kvRow(row)}}`).join(',')

function kvRow(row: KvRow): string {
  const value = row.value === null ? '' : `"value":${row.value},`
  return `"key":${quote(row.key)},${value}"version":${row.version},"expiresAt":${quoteOrNull(row.expiresAt)},"updatedAt":${quote(row.updatedAt)}`
}

/** The answer of a transaction; results share one flat index: pushed items and acks in order, then kv, then timers, then runs. */
export function encodeTransaction(
  transactionId: string,
  { operations, timers }: { readonly operations: readonly StepOperation[]; readonly timers: readonly TimerOperation[] },
  result: TransactionResult,
  runs: readonly SubmittedRun[] = [],
): string {
  const head = `{"transactionId":"${transactionId}","success":${result.success}`
  if (!result.success) return `${head},${loss(result)},"error":${quote(result.error)},"results":[]}`
  const parts = result.operations.map((outcome, index) => {
    const item = operations[index]?.item
    if (outcome.type === 'push') {
      const queue = item && 'queue' in item ? item.queue : ''
      const duplicate = outcome.status === 'duplicate' ? ',"duplicate":true' : ''
      const offset = outcome.offset === null ? '' : `,"offset":${outcome.offset}`
      // An id that was minted is the message's; a repeat of the request must answer the first one.
      const id = item?.transactionId ?? outcome.messageId
      return (
        `{"index":${index},"type":"push","success":true,"transactionId":${quote(id)},` +
        `"messageId":"${outcome.messageId}","queueName":${quote(queue)}${offset}${duplicate}}`
      )
    }
    return (
      `{"index":${index},"type":"ack","success":${outcome.success},"transactionId":${quoteOrNull(item?.transactionId ?? null)},` +
      `"error":${quoteOrNull(outcome.error)},"leaseReleased":${outcome.leaseReleased},"dlq":${outcome.dlq},"noop":${outcome.noop}}`
    )
  })
  const flat = result.operations.length
  for (const [index, outcome] of result.kv.entries()) {
    parts.push(`{"index":${flat + index},"type":"kv","opIndex":${index},${kvResult(outcome)}}`)
  }
  const timed = flat + result.kv.length
  for (const [index, outcome] of result.timers.entries()) {
    const operation = timers[index]
    if (operation === undefined) continue
    parts.push(`{"index":${timed + index},"type":"timer","opIndex":${index},${timerResult(operation, outcome)}}`)
  }
  const submitted = timed + result.timers.length
  for (const [index, run] of runs.entries()) {
    parts.push(
      `{"index":${submitted + index},"type":"run","success":true,"runId":"${run.runId}","created":${run.created}}`,
    )
  }
  return `${head},"results":[${parts.join(',')}]}`
}

function loss(result: Extract<TransactionResult, { success: false }>): string {
  const reason = `"reason":"${result.reason}"`
  switch (result.reason) {
    case 'kv_precondition':
      return (
        `${reason},"ok":false,"failedIndex":${result.failedIndex},"kvReason":"${result.kvReason}",` +
        `"version":${result.version},"value":${result.value}`
      )
    case 'duplicate':
      return `${reason},"failedIndex":${result.failedIndex},"messageId":"${result.messageId}"${result.conflict ? ',"conflict":true' : ''}`
    case 'rejected_ack':
    case 'queue_full':
      return `${reason},"failedIndex":${result.failedIndex}`
    case 'request_conflict':
      return reason
  }
}
