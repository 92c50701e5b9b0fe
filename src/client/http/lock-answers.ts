// The answers of the locks route, each read as its own operation demands.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import type { LockHolder, LockOperation, LockPermit, LockResult } from '../../protocol/lock.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, type AnswerRecord } from './answer-reader.ts'

const count = integer(0, Number.MAX_SAFE_INTEGER)
const DONE = {
  acquired: optional(boolean, false),
  renewed: optional(boolean, false),
  released: optional(boolean, false),
  already: optional(boolean, false),
} as const
const PERMIT = { slot: count, token: count } as const
const SLOT = { slot: count } as const
const REFUSED = { reason: oneOf('held', 'contended', 'lost') } as const
const HOLDER = { slot: count, owner: optional(plainText, null) } as const
const SEEN = {
  ...HOLDER,
  token: count,
  since: plainText,
  expiresAt: plainText,
  renewedAt: optional(plainText, null),
} as const

const holdersIn = (source: AnswerRecord): readonly LockHolder[] =>
  recordsIn(source['holders'] ?? [], null).map((holder) => fieldsIn(HOLDER, holder))
const permitsIn = (source: AnswerRecord): readonly LockPermit[] =>
  recordsIn(source['holders'] ?? [], null).map((holder) => fieldsIn(SEEN, holder))

function resultIn(source: AnswerRecord, { op }: LockOperation): LockResult {
  if (op === 'get') return { op, holders: permitsIn(source) }
  const done = fieldsIn(DONE, source)
  if (!done[op === 'acquire' ? 'acquired' : op === 'renew' ? 'renewed' : 'released']) {
    return { op, done: false, ...fieldsIn(REFUSED, source), holders: holdersIn(source) }
  }
  if (op === 'release') return { op, done: true, ...fieldsIn(SLOT, source) }
  const permit = fieldsIn(PERMIT, source)
  return op === 'renew' ? { op, done: true, ...permit } : { op, done: true, ...permit, already: done.already }
}

export function locksAnswer(body: string, operations: readonly LockOperation[]): readonly LockResult[] {
  const results = recordsIn(recordIn(readAnswer(body, {}).envelope)['results'], operations.length)
  return operations.map((operation, at) => resultIn(results[at] ?? {}, operation))
}
