// Flattens timer operations into the parallel arrays of the SQL functions, each line with the number of its call or step (from
// 1) and its place in it. It sends nothing and judges nothing.
import type { TimerOperation } from '../protocol/timer.ts'

type Column = (string | null)[]

const COLUMNS = 11

/** Call, place, op, queue, key, partition, transaction id, payload, delay, message id, producer. */
export function timerLines(calls: readonly (readonly TimerOperation[])[]): readonly Column[] {
  const columns: Column[] = Array.from({ length: COLUMNS }, () => [])
  for (const [call, operations] of calls.entries()) {
    for (const [pos, operation] of operations.entries()) {
      const line = [String(call + 1), String(pos), operation.op, operation.queue, operation.key, ...rest(operation)]
      line.forEach((value, column) => columns[column]?.push(value))
    }
  }
  return columns
}

function rest(operation: TimerOperation): readonly (string | null)[] {
  if (operation.op === 'cancel') return [null, operation.transactionId, null, null, null, null]
  const { partition, transactionId, payload, delayMs, messageId, producerSub } = operation
  return [partition, transactionId, payload, String(delayMs), messageId, producerSub]
}
