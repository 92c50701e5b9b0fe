// Flattens key/value calls into the parallel arrays that the SQL functions take: one line per operation, one per key of a
// getMany. It sends nothing and judges nothing; values go through as the text they are.
import type { KvOperation } from '../protocol/kv.ts'

type Column = (string | null)[]

/** In the order of the functions' parameters; a read or a transaction takes the columns it needs by name. */
export interface KvLines {
  readonly call: Column
  readonly pos: Column
  readonly op: Column
  readonly ns: Column
  readonly key: Column
  readonly value: Column
  readonly expect: Column
  readonly required: Column
  readonly ttl: Column
  readonly delta: Column
  readonly min: Column
  readonly max: Column
  readonly limit: Column
  readonly after: Column
  readonly keysOnly: Column
}

/** Calls are numbered from 0; `pos` is the place of the operation in its call. */
export function kvLines(calls: readonly (readonly KvOperation[])[]): KvLines {
  const lines: KvLines = {
    call: [],
    pos: [],
    op: [],
    ns: [],
    key: [],
    value: [],
    expect: [],
    required: [],
    ttl: [],
    delta: [],
    min: [],
    max: [],
    limit: [],
    after: [],
    keysOnly: [],
  }
  for (const [call, operations] of calls.entries())
    for (const [pos, operation] of operations.entries()) addOperation(lines, call, pos, operation)
  return lines
}

function addOperation(lines: KvLines, call: number, pos: number, operation: KvOperation): void {
  if (operation.op === 'getMany') {
    // A line without a key stands for a list without keys, so that the operation still has an answer.
    for (const key of operation.keys.length === 0 ? [null] : operation.keys) addLine(lines, call, pos, operation, key)
  } else {
    addLine(lines, call, pos, operation, operation.op === 'getPrefix' ? operation.prefix : operation.key)
  }
}

function addLine(lines: KvLines, call: number, pos: number, operation: KvOperation, key: string | null): void {
  lines.call.push(String(call))
  lines.pos.push(String(pos))
  lines.op.push(operation.op)
  lines.ns.push(operation.ns)
  lines.key.push(key)
  lines.value.push('value' in operation ? operation.value : null)
  lines.expect.push('expect' in operation ? numberText(operation.expect) : null)
  lines.required.push('required' in operation && operation.required ? 't' : 'f')
  lines.ttl.push('ttlSeconds' in operation ? numberText(operation.ttlSeconds) : null)
  lines.delta.push(operation.op === 'incr' ? operation.delta : null)
  lines.min.push(operation.op === 'incr' ? operation.min : null)
  lines.max.push(operation.op === 'incr' ? operation.max : null)
  lines.limit.push(operation.op === 'getPrefix' ? String(operation.limit) : null)
  lines.after.push(operation.op === 'getPrefix' ? operation.after : null)
  lines.keysOnly.push(operation.op === 'getPrefix' && operation.keysOnly ? 't' : 'f')
}

const numberText = (number: number | null): string | null => (number === null ? null : String(number))
