// `ctx.step`: a named piece of a workflow's code that is done once. Its writes and its record are one commit; what it gave is
// recorded as JSON and given back by that at every later run of the code.
import { transactionScope } from '../../client/transaction-scope.ts'
import { joinedTransaction } from '../../client/postgres/joined-transaction.ts'
import type { QueryResult, TransactionClient } from '../../client/transaction-client.ts'
import { recordCommand } from '../../operations/record-step.ts'
import { stepOf } from '../../operations/step-of.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { CodeStep, KeyOptions } from '../define/contexts.ts'
import { runText } from '../define/plan-node.ts'
import { untilLeaseEnds } from '../worker/ends.ts'
import { certainlyUndone } from './certainly-undone.ts'
import { demandKind, leaseLost, parsedOutput, type CodeParts } from './code-parts.ts'
import { createLazyStep, type LazyStep } from './lazy-step.ts'
import { isTransactionClient } from './is-transaction-client.ts'

/** Of a step on our own connection: opened by its first statement, so that a step which writes nothing holds none. */
function lazyClient(step: LazyStep): TransactionClient {
  return {
    async query<Row>(text: string, values?: unknown[]): Promise<QueryResult<Row>> {
      const { tx } = await step.open()
      if (!isTransactionClient(tx)) throw new LockstepError('internal', 'the step has no client')
      return tx.query<Row>(text, values)
    },
  }
}

async function recordIn(parts: CodeParts, step: LazyStep, name: string, output: string): Promise<void> {
  const { node } = parts.held
  try {
    const opened = await step.open()
    await parts.worker.hooks.beforeCommit?.({ action: name, runId: node.runId, node: name, door: opened.door })
    await step.commit(recordCommand({ runId: node.runId, leaseId: node.leaseId, name, state: 'done', output }))
  } catch (error) {
    if (certainlyUndone(error)) throw error
    const fate = await untilLeaseEnds(
      () => parts.held.leaseUntil,
      () => stepOf(parts.worker.database, node.runId, node.leaseId, name),
    )
    if (fate === 'lost') throw leaseLost()
    if (fate === 'held') throw error
  }
}

async function perform(parts: CodeParts, name: string, work: (step: CodeStep<unknown>) => unknown): Promise<unknown> {
  const { worker, held, definition } = parts
  const { runId, leaseId } = held.node
  const queues = new Set<string>()
  const workflows = new Set<string>()
  const lazy = createLazyStep(worker.attempts, definition.completion, () => null)
  const joined = async () => {
    const inner = joinedTransaction((await lazy.open()).door)
    return {
      ...inner,
      async push(items: Parameters<typeof inner.push>[0]) {
        for (const item of items) queues.add(item.queue)
        return inner.push(items)
      },
      async submit(runs: Parameters<typeof inner.submit>[0]) {
        for (const run of runs) workflows.add(run.workflow)
        return inner.submit(runs)
      },
    }
  }
  try {
    const step: CodeStep<unknown> = {
      ...transactionScope(joined, worker.attempts.calls),
      tx: definition.completion === null ? lazyClient(lazy) : (await lazy.open()).tx,
      idempotencyKey: `${runId}:${name}`,
      abortSignal: parts.abortSignal(),
    }
    const output = runText(await work(step), `step '${name}'`)
    if (held.gone !== null) throw leaseLost()
    if (lazy.opened() || worker.hooks.apart?.(name, name) === true) await recordIn(parts, lazy, name, output)
    else if (!(await worker.ends.record({ runId, leaseId, name, output, state: 'done' }, () => held.leaseUntil)))
      throw leaseLost()
    for (const queue of queues) worker.committed(queue)
    for (const workflow of workflows) worker.runs.wake(workflow)
    return JSON.parse(output)
  } catch (error) {
    await lazy.rollback().catch(() => {})
    throw error
  }
}

export async function codeStep(
  parts: CodeParts,
  given: string,
  options: KeyOptions,
  work: (step: CodeStep<unknown>) => unknown,
): Promise<unknown> {
  const { recorded: name, end } = parts.names.enter(given, options.key)
  try {
    const recorded = parts.history.get(name)
    if (recorded !== undefined) {
      demandKind(name, recorded, ['done'], 'a step')
      return parsedOutput(recorded.output)
    }
    return await parts.waits.during(async () => perform(parts, name, work))
  } finally {
    end()
  }
}
