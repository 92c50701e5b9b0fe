// The client that a transactional handler holds: everything of `pg`, but the transaction's beginning and end, which are the
// consumer's. Savepoints are allowed. After the handler it refuses everything.
import type { OpenTransaction } from '../../db/transaction.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { TransactionClient } from '../transaction-client.ts'
import { isObject } from '../foreign-transaction.ts'
import { statementWords } from './statement-words.ts'

const ENDS: ReadonlySet<string> = new Set(['begin', 'start', 'commit', 'end', 'rollback', 'abort', 'prepare'])
/** They would give the connection to somebody else, or end it. */
const REFUSED: ReadonlySet<PropertyKey> = new Set(['release', 'end', 'connect'])

function isSavepoint(words: readonly string[]): boolean {
  const [first, second] = words
  return (first === 'rollback' || first === 'abort') && (second === 'to' || words[2] === 'to')
}

function endsTransaction(words: readonly string[]): boolean {
  const [first = '', second] = words
  if (!ENDS.has(first) || isSavepoint(words)) return false
  // `prepare name as …` is a prepared statement; `prepare transaction` is the first half of a two-phase commit.
  return first !== 'prepare' || second === 'transaction'
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query
  const text: unknown = isObject(query) ? Reflect.get(query, 'text') : null
  if (typeof text === 'string') return text
  const cursor: unknown = isObject(query) ? Reflect.get(query, 'cursor') : null
  return isObject(cursor) ? textOf(cursor) : refuse('step.tx.query needs a text, or an object with one')
}

function refuse(message: string): never {
  throw new LockstepError('bad_request', message)
}

function checkStatement(query: unknown): void {
  for (const words of statementWords(textOf(query))) {
    if (endsTransaction(words)) {
      refuse(
        `step.tx refuses ${words[0]?.toUpperCase() ?? ''}: the consumer opens and commits the step; use a savepoint`,
      )
    }
  }
}

export interface GuardedClient {
  readonly tx: TransactionClient
  /** What the first failed statement of the transaction said, unless it was undone by a savepoint. */
  readonly failure: () => unknown
  /** Notes a statement that failed beside the handler's client. */
  readonly failed: (error: unknown) => void
  /** From now on the handler's client refuses everything. */
  readonly revoke: () => void
}

function undoesFailure(query: unknown): boolean {
  return statementWords(textOf(query)).some(isSavepoint)
}

/** `open`: the transaction it works in. */
export function guardedClient(open: OpenTransaction): GuardedClient {
  const { client } = open
  let revoked = false
  let failure: unknown = null
  const failed = (error: unknown): void => {
    failure ??= error
  }
  const watch = async (answer: Promise<unknown>, statement: unknown): Promise<void> => {
    try {
      await answer
      if (undoesFailure(statement)) failure = null
    } catch (error) {
      failed(error)
    }
  }
  const query = (...given: readonly unknown[]): unknown => {
    if (revoked) throw new LockstepError('not_a_transaction', 'step.tx was used after its handler had returned')
    checkStatement(given[0])
    const answer: unknown = open.query(...given)
    if (answer instanceof Promise) void watch(answer, given[0])
    return answer
  }
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === 'query') return query
      if (name === 'getTransactionStatus') return () => open.status()
      if (REFUSED.has(name)) return () => refuse(`step.tx has no ${String(name)}: the connection is the consumer's`)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    tx,
    failure: () => failure,
    failed,
    revoke() {
      revoked = true
    },
  }
}
