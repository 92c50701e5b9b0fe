// Flattens steps into the parallel arrays of the SQL functions: request ids, key/value lines, acks, pushes, timers, each line with
// the number of its step (from 1) and its place in it. It sends nothing and judges nothing.
import type { TransactionRequest } from '../protocol/transaction.ts'
import { ackLine } from './ack-lines.ts'
import { kvLines } from './kv-lines.ts'
import { pushLines } from './push-lines.ts'
import { timerLines } from './timer-lines.ts'

type Column = readonly (string | null)[]

const KV_COLUMNS = ['pos', 'op', 'ns', 'key', 'value', 'expect', 'required', 'ttl', 'delta', 'min', 'max'] as const

/** The arrays in the order of the function's parameters after p_own. */
export function transactionLines(steps: readonly TransactionRequest[]): readonly Column[] {
  const kv = kvLines(steps.map((step) => step.kv))
  const acks: (string | null)[][] = Array.from({ length: 10 }, () => [])
  const pushes = steps.flatMap((step, at) =>
    step.operations.flatMap((operation, pos) =>
      operation.type === 'push' ? [{ step: String(at + 1), pos: String(pos), item: operation.item }] : [],
    ),
  )
  steps.forEach((step, at) =>
    step.operations.forEach((operation, pos) => {
      if (operation.type !== 'ack') return
      // What is no partition id names no partition: it is judged like any other that does not exist.
      const line = ackLine(operation.item) ?? ackLine({ ...operation.item, partitionId: NOWHERE }) ?? []
      ;[String(at + 1), String(pos), ...line].forEach((value, column) => acks[column]?.push(value))
    }),
  )
  return [
    steps.map((step) => step.requestId),
    steps.map((step) => step.bodyHash),
    kv.call.map((call) => String(Number(call) + 1)),
    ...KV_COLUMNS.map((name) => kv[name]),
    ...acks,
    pushes.map((push) => push.step),
    pushes.map((push) => push.pos),
    ...pushLines(pushes.map((push) => push.item)),
    ...timerLines(steps.map((step) => step.timers)),
  ]
}

const NOWHERE = '0000000000000'

/** The casts of the parameters, from $2; the door sends each array as text. */
export const TRANSACTION_CASTS = [
  'text[]',
  'text[]',
  'int[]',
  'int[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'bigint[]',
  'boolean[]',
  'bigint[]',
  'numeric[]',
  'numeric[]',
  'numeric[]',
  'int[]',
  'int[]',
  'int[]',
  'bigint[]',
  'text[]',
  'text[]',
  'text[]',
  'bigint[]',
  'text[]',
  'text[]',
  'int[]',
  'int[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'uuid[]',
  'int[]',
  'int[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'bigint[]',
  'uuid[]',
  'text[]',
] as const
