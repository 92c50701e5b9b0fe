// What two steps of one call must not share: a kv key, a lane, a pushed id, a timer. Names are joined by NUL, which no name can hold.
import type { TransactionRequest } from '../protocol/transaction.ts'

export function stepKeys(step: TransactionRequest): readonly string[] {
  const keys: string[] = []
  for (const operation of step.operations) {
    if (operation.type === 'ack') keys.push(`l\0${operation.item.partitionId}\0${operation.item.group}`)
    else if (operation.item.transactionId !== null) {
      keys.push(`m\0${operation.item.queue}\0${operation.item.partition}\0${operation.item.transactionId}`)
    }
  }
  for (const operation of step.kv) {
    if (operation.op === 'getMany') for (const key of operation.keys) keys.push(`k\0${operation.ns}\0${key}`)
    else if (operation.op !== 'getPrefix') keys.push(`k\0${operation.ns}\0${operation.key}`)
  }
  for (const { queue, key } of step.timers) keys.push(`t\0${queue}\0${key}`)
  if (step.requestId !== null) keys.push(`r\0${step.requestId}`)
  return keys
}
