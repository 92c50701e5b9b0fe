// Runs one key/value operation for a command: checked at the same door as a request of the wire, then sent.

import type { Executor } from '../db/executor.ts'
import { kv } from '../operations/kv.ts'
import { LockstepError } from '../protocol/errors.ts'
import { decodeKv } from '../protocol/kv-request.ts'
import type { KvOperation, KvResult } from '../protocol/kv.ts'
import { UsageError } from './usage-error.ts'
import { writeJson } from './write-json.ts'

/** The results that answer an `Op`: several operations share one shape. */
type Answered<Op, Result = KvResult> = Result extends { readonly op: infer Ops }
  ? Op extends Ops
    ? Result
    : never
  : never

/** A fault of the request is one of the command line here: told by the name of the argument, not by a place in a body. */
function decoded(operation: Readonly<Record<string, unknown>>): ReturnType<typeof decodeKv> {
  try {
    return decodeKv({ text: writeJson({ operations: [operation] }), broken: null })
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error
    const told = error.message
      .replace(/^bad body: /, '')
      .replace(/operations\[0\]\.(\w+)/g, (_, field: string) => WORDS[field] ?? field)
    throw new UsageError(`${told}.`)
  }
}

const WORDS: Readonly<Record<string, string>> = { ns: 'the namespace', ttlSeconds: '--ttl' }

export interface KeyPage {
  readonly ns: string
  /** Empty: the whole namespace, which the wire does not offer. */
  readonly prefix: string
  readonly limit: number
  readonly keysOnly: boolean
  readonly after: string | null
}

/** One page of the keys of a namespace, in the order of their bytes. */
export async function listKeys(db: Executor, page: KeyPage): Promise<Answered<'getPrefix'>> {
  if (page.prefix !== '') return runKv(db, { op: 'getPrefix', ...page })
  // All the rest is checked at the door, with a prefix that it lets pass.
  const { operations } = decoded({ op: 'getPrefix', ...page, prefix: '-' })
  return sent(
    db,
    operations.map((each) => (each.op === 'getPrefix' ? { ...each, prefix: '' } : each)),
    'getPrefix',
  )
}

/** `operation` as on the wire. The answer is that of the same `op`. */
export async function runKv<const Op extends KvResult['op']>(
  db: Executor,
  operation: Readonly<Record<string, unknown>> & { readonly op: Op },
): Promise<Answered<Op>> {
  return sent(db, decoded(operation).operations, operation.op)
}

async function sent<const Op extends KvResult['op']>(
  db: Executor,
  operations: readonly KvOperation[],
  op: Op,
): Promise<Answered<Op>> {
  const [answer] = await kv(db, [operations])
  const result = answer?.ok === true ? answer.results[0] : undefined
  if (result === undefined || !isOf(result, op))
    throw new LockstepError('internal', `${op} was answered by something else`)
  return result
}

function isOf<Op extends KvResult['op']>(result: KvResult, op: Op): result is Answered<Op> & KvResult {
  return result.op === op
}
