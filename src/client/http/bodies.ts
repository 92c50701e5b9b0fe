// Request bodies as text. Payloads and values are JSON already and go in as they are, never parsed and printed again, so
// that what is stored is what was pushed.
import type { KvOperation } from '../../protocol/kv.ts'
import type { AckItem } from '../../protocol/message.ts'
import type { OutgoingRun } from '../../protocol/run.ts'
import type { TimerOperation } from '../../protocol/timer.ts'
import type { OutgoingItem, OutgoingOperation, OutgoingStep } from '../transport.ts'

/** A member whose value is JSON text already; null leaves it out. */
type Raw = readonly (readonly [name: string, json: string | null])[]

function objectText(members: Raw): string {
  const written = members.flatMap(([name, json]) => (json === null ? [] : [`${JSON.stringify(name)}:${json}`]))
  return `{${written.join(',')}}`
}

function said(value: string | number | boolean | readonly string[] | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

function itemText(item: OutgoingItem): string {
  return objectText([
    ['queue', said(item.queue)],
    ['partition', said(item.partition)],
    ['transactionId', said(item.transactionId)],
    ['traceId', said(item.traceId)],
    ['payload', item.payload],
  ])
}

export function pushBody(items: readonly OutgoingItem[]): string {
  return `{"items":[${items.map(itemText).join(',')}]}`
}

function ackMembers(item: AckItem): Raw {
  return [
    ['transactionId', said(item.transactionId)],
    ['offset', said(item.offset)],
    ['partitionId', said(item.partitionId)],
    ['status', said(item.status)],
    ['error', said(item.error)],
    ['leaseId', said(item.leaseId)],
  ]
}

/** All of one group: the group stands once, at the top. */
export function ackBatchBody(items: readonly AckItem[], group: string): string {
  const list = items.map((item) => objectText(ackMembers(item))).join(',')
  return `{"acknowledgments":[${list}],"consumerGroup":${JSON.stringify(group)}}`
}

function operationText(operation: OutgoingOperation): string {
  if (operation.type === 'push') return `{"type":"push","items":[${itemText(operation.item)}]}`
  return objectText([['type', '"ack"'], ...ackMembers(operation.item), ['consumerGroup', said(operation.item.group)]])
}

function expiryMembers(ttlSeconds: number | null): Raw {
  return ttlSeconds === null ? [['forever', 'true']] : [['ttlSeconds', said(ttlSeconds)]]
}

function guardMembers(expect: number | null, required: boolean): Raw {
  return [
    ['expect', said(expect)],
    ['required', required ? 'true' : null],
  ]
}

function kvMembers(operation: KvOperation): Raw {
  switch (operation.op) {
    case 'get':
      return [['key', said(operation.key)]]
    case 'getMany':
      return [['keys', said(operation.keys)]]
    case 'getPrefix': {
      const { prefix, limit, after, keysOnly } = operation
      return [
        ['prefix', said(prefix)],
        ['limit', said(limit)],
        ['after', said(after)],
        ['keysOnly', said(keysOnly)],
      ]
    }
    case 'put':
    case 'putIfAbsent': {
      const { key, value, ttlSeconds, expect, required } = operation
      return [['key', said(key)], ['value', value], ...expiryMembers(ttlSeconds), ...guardMembers(expect, required)]
    }
    case 'delete':
    case 'check':
      return [['key', said(operation.key)], ...guardMembers(operation.expect, operation.required)]
    default: {
      const { key, delta, min, max, ttlSeconds, required } = operation
      return [
        ['key', said(key)],
        ['delta', delta],
        ['min', min],
        ['max', max],
        ...expiryMembers(ttlSeconds),
        ...guardMembers(null, required),
      ]
    }
  }
}

function kvList(operations: readonly KvOperation[]): string {
  const texts = operations.map((operation) =>
    objectText([['op', said(operation.op)], ['ns', said(operation.ns)], ...kvMembers(operation)]),
  )
  return `[${texts.join(',')}]`
}

export function kvBody(operations: readonly KvOperation[]): string {
  return `{"operations":${kvList(operations)}}`
}

function timerText(operation: TimerOperation): string {
  const named: Raw = [
    ['op', said(operation.op)],
    ['queue', said(operation.queue)],
    ['timerKey', said(operation.key)],
    ['txn', said(operation.transactionId)],
  ]
  if (operation.op === 'cancel') return objectText(named)
  const { partition, delayMs, payload } = operation
  return objectText([...named, ['partition', said(partition)], ['delayMs', said(delayMs)], ['data', payload]])
}

const timerList = (operations: readonly TimerOperation[]): string => `[${operations.map(timerText).join(',')}]`

export function timersBody(operations: readonly TimerOperation[]): string {
  return `{"operations":${timerList(operations)}}`
}

/** By the name that workers registered: a graph's nodes are planned there. */
function runItem(run: OutgoingRun): string {
  const { input, shape: _shape, plans: _plans, ...rest } = run
  return `${JSON.stringify(rest).slice(0, -1)},"input":${input}}`
}

const runList = (runs: readonly OutgoingRun[]): string => `[${runs.map(runItem).join(',')}]`

export function runsBody(runs: readonly OutgoingRun[]): string {
  return `{"runs":${runList(runs)}}`
}

export function transactionBody(step: OutgoingStep): string {
  const leases = step.operations.flatMap((operation) =>
    operation.type === 'ack' && operation.item.leaseId !== null ? [operation.item.leaseId] : [],
  )
  return objectText([
    ['requestId', said(step.requestId)],
    ['operations', `[${step.operations.map(operationText).join(',')}]`],
    ['requiredLeases', said([...new Set(leases)])],
    ['kv', step.kv.length === 0 ? null : kvList(step.kv)],
    ['timers', step.timers.length === 0 ? null : timerList(step.timers)],
    ['runs', step.runs.length === 0 ? null : runList(step.runs)],
  ])
}
