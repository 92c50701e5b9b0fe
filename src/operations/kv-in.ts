// Key/value operations inside somebody's open transaction: one statement through the door, nothing else. The rows stay
// locked until that transaction ends; a lost expectation is an answer and leaves it usable.
import { arrayLiteral } from '../db/array-literal.ts'
import type { Door } from '../db/executor.ts'
import { readKvAnswer } from '../protocol/kv-answer.ts'
import type { KvAnswer, KvOperation } from '../protocol/kv.ts'
import { kvLines } from './kv-lines.ts'

const KV =
  'select lockstep.kv($1::text::int[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::bigint[], $7::text::boolean[], $8::text::bigint[], $9::text::numeric[], $10::text::numeric[], $11::text::numeric[], $12::text::int[], $13::text::text[], $14::text::boolean[]) as r'

export async function kvIn(door: Door, operations: readonly KvOperation[]): Promise<KvAnswer> {
  if (operations.length === 0) return { ok: true, results: [] }
  const { call: _, ...columns } = kvLines([operations])
  return readKvAnswer(await door.text(KV, Object.values(columns).map(arrayLiteral)), operations)
}
