// Key/value calls, many in few statements. Calls that only read take no lock and share one snapshot; calls that write or
// check are judged one by one under locks taken for all of them first. A call that loses never hurts its neighbours.
import type { Executor, Param } from '../db/executor.ts'
import { readKvAnswer } from '../protocol/kv-answer.ts'
import type { KvAnswer, KvOperation } from '../protocol/kv.ts'
import { kvLines } from './kv-lines.ts'

const READ =
  'select * from lockstep.kv_read_joined($1::int[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::boolean[])'
const WRITE =
  'select * from lockstep.kv_joined($1::int[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[], $9::bigint[], $10::numeric[], $11::numeric[], $12::numeric[], $13::int[], $14::text[], $15::boolean[])'

type Call = readonly KvOperation[]

/** The answers are aligned with the calls. Without a transaction around it each statement commits by itself. */
export async function kv(db: Executor, calls: readonly Call[]): Promise<readonly KvAnswer[]> {
  const answers: KvAnswer[] = calls.map(() => ({ ok: true, results: [] }))
  for (const [statement, group] of statements(calls)) {
    const lines = kvLines(group.map((at) => calls[at] ?? []))
    const { call, pos, op, ns, key, limit, after, keysOnly } = lines
    const params: readonly Param[] =
      statement === READ ? [call, pos, op, ns, key, limit, after, keysOnly] : Object.values(lines)
    for (const [number, text] of await db.rows(statement, params)) {
      const at = group[Number(number)]
      if (at !== undefined) answers[at] = readKvAnswer(text ?? null, calls[at] ?? [])
    }
  }
  return answers
}

/** True when the call takes no lock: such calls are best joined apart from those that write. */
export const onlyReads = (call: Call): boolean =>
  call.every(({ op }) => op === 'get' || op === 'getMany' || op === 'getPrefix')

// A prefix read beside writes sees what its statement wrote, so such a call has a statement of its own.
function statements(calls: readonly Call[]): readonly (readonly [string, readonly number[]])[] {
  const reads: number[] = []
  const writes: number[] = []
  const alone: (readonly [string, readonly number[]])[] = []
  for (const [at, call] of calls.entries()) {
    if (call.length === 0) continue
    if (onlyReads(call)) reads.push(at)
    else if (call.some(({ op }) => op === 'getPrefix')) alone.push([WRITE, [at]])
    else writes.push(at)
  }
  const joined: (readonly [string, readonly number[]])[] = [
    [READ, reads],
    [WRITE, writes],
  ]
  return [...joined.filter(([, group]) => group.length > 0), ...alone]
}
