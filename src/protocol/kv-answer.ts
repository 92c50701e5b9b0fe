// Reads the JSON text that the database answers to a key/value call. Values in it are JSON strings of the value's text, so
// parsing it cannot change one; what the request already says (op, key, the value put) is taken from there.
import { LockstepError } from './errors.ts'
import type { KvAnswer, KvLoss, KvOperation, KvResult, KvRow } from './kv.ts'

interface AnswerText {
  readonly ok: boolean
  readonly results: readonly ResultText[]
  readonly failedIndex: number
  readonly kvReason: KvLoss
  readonly version: number | null
  readonly value: string | null
}

/** The union of what the operations' results hold; which fields are there follows from the operation. */
interface ResultText extends KvRow {
  readonly found: boolean
  readonly rows: readonly KvRow[]
  readonly missing: readonly string[]
  readonly truncated: boolean
  readonly nextAfter: string | null
  readonly applied: boolean
  readonly reason?: KvLoss
}

/** `text` is null for a call without operations. */
export function readKvAnswer(text: string | null, operations: readonly KvOperation[]): KvAnswer {
  if (text === null) return { ok: true, results: [] }
  // The text is written by our own SQL functions; its shape is theirs and tested with them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const answer = JSON.parse(text) as AnswerText
  if (!answer.ok) {
    const { failedIndex, kvReason, value, version } = answer
    return { ok: false, reason: 'kv_precondition', failedIndex, kvReason, value, version }
  }
  return {
    ok: true,
    results: operations.map((operation, at) => {
      const result = answer.results[at]
      if (result === undefined) throw new LockstepError('internal', `kv answered nothing for operation ${at}`)
      return readResult(operation, result)
    }),
  }
}

function readResult(operation: KvOperation, result: ResultText): KvResult {
  switch (operation.op) {
    case 'get': {
      const { key } = operation
      if (!result.found) return { op: 'get', found: false, key }
      const { value, version, expiresAt, updatedAt } = result
      return { op: 'get', found: true, row: { key, value, version, expiresAt, updatedAt } }
    }
    case 'getMany':
      return { op: 'getMany', rows: result.rows, missing: result.missing, truncated: result.truncated }
    case 'getPrefix':
      return { op: 'getPrefix', rows: result.rows, truncated: result.truncated, nextAfter: result.nextAfter }
    default: {
      const { op, key } = operation
      const { applied, version } = result
      const put = applied && 'value' in operation ? operation.value : null
      return { op, key, applied, version, value: put ?? result.value ?? null, reason: result.reason ?? null }
    }
  }
}
