// One step of a transactional consumer on one of our connections: BEGIN, the handler's statements, the ack as the last one,
// COMMIT believed by its tag. A COMMIT whose end was not seen is decided by reading the row of the request id, which waits
// for the lost transaction if it still runs; it is never sent again.
import type { Door } from '../../db/executor.ts'
import type { Database } from '../../db/pool.ts'
import { serverErrorOf } from '../../db/server-error.ts'
import { beginLazily, transaction, type OpenTransaction } from '../../db/transaction.ts'
import { openRequest } from '../../operations/open-request.ts'
import { transactionIn } from '../../operations/transaction-in.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { AckItem } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { readTransactionAnswer } from '../../protocol/transaction-answer.ts'
import type { TransactionRequest, TransactionResult } from '../../protocol/transaction.ts'
import type { JoinedTransaction, StepBody } from '../transport.ts'
import { guardedClient } from './guarded-client.ts'
import { joinedTransaction } from './joined-transaction.ts'
import { transactionRequest } from './send-transaction.ts'

/** The user's statements may wait for locks as long as his own settings would let them: the lease is the bound. */
const HANDLER_TIMEOUTS = { lockTimeoutMs: 0, statementTimeoutMs: 0 }

/** in_failed_sql_transaction */
const ABORTED = '25P02'

export interface StepRun {
  readonly result: TransactionResult
  /** Queues that got messages by this commit. */
  readonly queues: ReadonlySet<string>
  /** Workflows and actions that got runs by it. */
  readonly workflows: ReadonlySet<string>
}

function doorOf(tx: OpenTransaction, failed: (error: unknown) => void): Door {
  return {
    vault: tx.vault,
    async text(statement, params) {
      try {
        return (await tx.rows(statement, params))[0]?.[0] ?? null
      } catch (error) {
        failed(error)
        throw error
      }
    },
  }
}

function noting(joined: JoinedTransaction, queues: Set<string>, workflows: Set<string>): JoinedTransaction {
  return {
    async push(items) {
      for (const item of items) queues.add(item.queue)
      return joined.push(items)
    },
    kv: async (operations) => joined.kv(operations),
    timers: async (operations) => joined.timers(operations),
    async submit(runs) {
      for (const run of runs) workflows.add(run.workflow)
      return joined.submit(runs)
    },
  }
}

/** What became of a commit whose end was not seen. */
async function decide(database: Database, request: TransactionRequest, lost: unknown): Promise<TransactionResult> {
  const { requestId, bodyHash } = request
  if (requestId === null || bodyHash === null) throw lost
  const recorded = await transaction(database, async (db) => (await openRequest(db, requestId, bodyHash)).recorded)
  const result = recorded === null ? null : readTransactionAnswer(recorded, request, true)
  if (result !== null && result !== 'deferred') return result
  throw new LockstepError('unavailable', 'the connection was lost while committing; nothing was committed', {}, lost)
}

/** "current transaction is aborted" says nothing; what aborted it does. */
function nameFailure(error: unknown, failure: unknown): unknown {
  if (!(failure instanceof Error) || serverErrorOf(error)?.sqlstate !== ABORTED) return error
  return new LockstepError(
    'failed_transaction',
    `${failure.message} (a failed statement of the step was caught by its handler; use a savepoint to go on after one)`,
    {},
    failure,
  )
}

export async function runStep(database: Database, ack: AckItem, body: StepBody): Promise<StepRun> {
  const request = transactionRequest({
    requestId: mintId(),
    operations: [{ type: 'ack', item: ack }],
    kv: [],
    timers: [],
    runs: [],
  })
  const queues = new Set<string>()
  const workflows = new Set<string>()
  const tx = await beginLazily(database, HANDLER_TIMEOUTS)
  const guarded = guardedClient(tx)
  try {
    const door = doorOf(tx, guarded.failed)
    try {
      await body(guarded.tx, noting(joinedTransaction(door), queues, workflows))
    } finally {
      guarded.revoke()
    }
    // In a transaction in which a statement had failed this one fails too, so a swallowed failure completes nothing.
    const result = await transactionIn(door, request)
    if (!result.success) {
      await tx.rollback()
      return { result, queues: new Set(), workflows: new Set() }
    }
    await tx.commit()
    return { result, queues, workflows }
  } catch (error) {
    await tx.rollback()
    if (error instanceof LockstepError && error.code === 'outcome_unknown') {
      return { result: await decide(database, request, error), queues, workflows }
    }
    throw nameFailure(error, guarded.failure())
  }
}
