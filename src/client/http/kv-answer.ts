// Key/value answers, alone and inside a commit; each result is read as its own operation demands.
import { boolean, integer, list, oneOf, optional } from '../../protocol/check.ts'
import { CUT, inArray, inObject, type Shape } from '../../protocol/json-slices.ts'
import type { KvAnswer, KvOperation, KvResult, KvRow } from '../../protocol/kv.ts'
import { LIMITS } from '../../protocol/limits.ts'
import {
  fieldsIn,
  plainText,
  readAnswer,
  recordIn,
  recordsIn,
  textIn,
  type Answer,
  type AnswerRecord,
} from './answer-reader.ts'

const version = integer(0, Number.MAX_SAFE_INTEGER)

export const KV_LOSS = oneOf('exists', 'absent', 'version', 'limit', 'type')

const ROW = { key: plainText, version, expiresAt: optional(plainText, null), updatedAt: plainText } as const
const FOUND = { found: boolean } as const
const MISS = { key: plainText } as const
const MANY = { missing: list(LIMITS.kvGetManyKeys, plainText), truncated: boolean } as const
const PAGE = { truncated: boolean, nextAfter: optional(plainText, null) } as const
const VERDICT = {
  applied: boolean,
  key: plainText,
  version: optional(version, null),
  reason: optional(KV_LOSS, null),
} as const

const LOST = {
  failedIndex: integer(0, Number.MAX_SAFE_INTEGER),
  kvReason: KV_LOSS,
  version: optional(version, null),
} as const

/** Where values stand in one result. */
export const KV_RESULT_SHAPE: Shape = inObject({ value: CUT, rows: inArray(inObject({ value: CUT })) })

const SHAPE = inObject({ value: CUT, results: inArray(KV_RESULT_SHAPE) })

function rowIn(answer: Answer, source: AnswerRecord): KvRow {
  return { ...fieldsIn(ROW, source), value: textIn(answer, source, 'value') }
}

function rowsIn(answer: Answer, source: AnswerRecord): readonly KvRow[] {
  return recordsIn(source['rows'], null).map((row) => rowIn(answer, row))
}

export function kvResultIn(answer: Answer, source: AnswerRecord, operation: KvOperation): KvResult {
  const { op } = operation
  if (op === 'get') {
    if (fieldsIn(FOUND, source).found) return { op, found: true, row: rowIn(answer, source) }
    return { op, found: false, ...fieldsIn(MISS, source) }
  }
  if (op === 'getMany') return { op, rows: rowsIn(answer, source), ...fieldsIn(MANY, source) }
  if (op === 'getPrefix') return { op, rows: rowsIn(answer, source), ...fieldsIn(PAGE, source) }
  return { op, ...fieldsIn(VERDICT, source), value: textIn(answer, source, 'value') }
}

export type KvPrecondition = Extract<KvAnswer, { readonly ok: false }>

/** What a lost required operation met, on either route. */
export function preconditionIn(answer: Answer, source: AnswerRecord): Omit<KvPrecondition, 'ok' | 'reason'> {
  return { ...fieldsIn(LOST, source), value: textIn(answer, source, 'value') }
}

export function kvAnswer(body: string, operations: readonly KvOperation[]): KvAnswer {
  const answer = readAnswer(body, SHAPE)
  const envelope = recordIn(answer.envelope)
  if (envelope['ok'] === false) return { ok: false, reason: 'kv_precondition', ...preconditionIn(answer, envelope) }
  const results = recordsIn(envelope['results'], operations.length)
  return {
    ok: true,
    results: operations.map((operation, index) => kvResultIn(answer, results[index] ?? {}, operation)),
  }
}
