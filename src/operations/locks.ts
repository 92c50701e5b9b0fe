// Locks and semaphores, many calls in one statement, each operation judged alone by the database's clock. No two operations of
// one statement may name the same lock: the caller keeps such calls apart.
import type { Executor } from '../db/executor.ts'
import type { LockHolder, LockOperation, LockPermit, LockResult } from '../protocol/lock.ts'

const LOCKS =
  'select * from lockstep.lock_joined($1::int[], $2::int[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::int[], $8::bigint[], $9::int[])'

/** The answers are aligned with the calls and their operations. */
export async function locks(
  db: Executor,
  calls: readonly (readonly LockOperation[])[],
): Promise<readonly (readonly LockResult[])[]> {
  const lines = calls.flatMap((operations, call) => operations.map((operation, pos) => lineOf(operation, call, pos)))
  const answers = calls.map((): LockResult[] => [])
  const columns = Array.from({ length: 9 }, (_, column) => lines.map((line) => line[column] ?? null))
  for (const [call, pos, text] of await db.rows(LOCKS, columns)) {
    const operation = calls[Number(call)]?.[Number(pos)]
    const results = answers[Number(call)]
    if (operation === undefined || results === undefined || !text) continue
    results[Number(pos)] = resultOf(operation, text)
  }
  return answers
}

function lineOf(operation: LockOperation, call: number, pos: number): readonly (string | null)[] {
  const number = (value: number | null): string | null => (value === null ? null : String(value))
  return [
    String(call),
    String(pos),
    operation.op,
    operation.name,
    number('ttlSeconds' in operation ? operation.ttlSeconds : null),
    'owner' in operation ? operation.owner : null,
    number('limit' in operation ? operation.limit : null),
    number('token' in operation ? operation.token : null),
    number('slot' in operation ? operation.slot : null),
  ]
}

interface AnswerText {
  readonly done: boolean
  readonly already?: boolean
  readonly slot: number
  readonly token: number
  readonly reason: 'held' | 'contended' | 'lost'
  readonly holders: readonly LockPermit[] & readonly LockHolder[]
}

function resultOf({ op }: LockOperation, text: string): LockResult {
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const answer = JSON.parse(text) as AnswerText
  const { slot, token, reason, holders } = answer
  if (op === 'get') return { op, holders }
  if (!answer.done) return { op, done: false, reason, holders }
  if (op === 'acquire') return { op, done: true, slot, token, already: answer.already ?? false }
  return op === 'renew' ? { op, done: true, slot, token } : { op, done: true, slot }
}
