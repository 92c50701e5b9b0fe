// Encodes what the timers routes answer.
import type { ShownTimer, TimerOperation, TimerResult } from './timer.ts'

/** The fields of one result, without braces. */
export function timerResult(operation: TimerOperation, result: TimerResult): string {
  const { status, transactionId, messageId, deliverAt } = result
  const ok = status !== 'absent'
  const place = `"queue":${JSON.stringify(operation.queue)},"timerKey":${JSON.stringify(operation.key)}`
  const head = `"ok":${ok},"status":"${status}",${place},"txn":${JSON.stringify(transactionId)}`
  return messageId === null ? head : `${head},"messageId":"${messageId}","deliverAt":${JSON.stringify(deliverAt)}`
}

export function encodeTimers(operations: readonly TimerOperation[], results: readonly TimerResult[]): string {
  const parts = operations.map((operation, index) => {
    const result = results[index]
    return result === undefined ? '{}' : `{"index":${index},"op":"${operation.op}",${timerResult(operation, result)}}`
  })
  return `{"results":[${parts.join(',')}]}`
}

function shown(timer: ShownTimer): Readonly<Record<string, unknown>> {
  return {
    timerKey: timer.key,
    partition: timer.partition,
    deliverAt: timer.deliverAt,
    txn: timer.transactionId,
    messageId: timer.messageId,
    payloadZstd: false,
    encrypted: timer.encrypted,
    producerSub: timer.producerSub,
    attempts: timer.attempts,
    lastError: timer.lastError,
    claimed: false,
    createdAt: timer.createdAt,
    updatedAt: timer.updatedAt,
  }
}

/** `payload` is base64 of the payload's text, as published clients expect it. */
export function encodeTimer(queue: string, timer: ShownTimer | null, payload: string | null): string {
  if (timer === null) return '{"found":false}'
  return JSON.stringify({ found: true, queue, ...shown(timer), payload })
}

export function encodeTimerPage(queue: string, timers: readonly ShownTimer[], truncated: boolean): string {
  const rows = timers.map((timer) => ({ queue, ...shown(timer) }))
  return JSON.stringify({ rows, truncated, nextAfter: truncated ? (timers.at(-1)?.key ?? null) : null })
}
