// What steps want to have stored, as one list to be sealed, and the steps again with what came of it. It sends nothing.
import type { Sealable } from '../protocol/vault.ts'
import type { TransactionRequest } from '../protocol/transaction.ts'

/** The pushes of each step in order, then its timers. */
export function sealablesOf(steps: readonly TransactionRequest[]): readonly Sealable[] {
  return steps.flatMap(({ operations, timers }) => [
    ...operations.flatMap((operation) => (operation.type === 'push' ? [operation.item] : [])),
    ...timers.flatMap((timer) => (timer.op === 'schedule' ? [timer] : [])),
  ])
}

/** `sealed` in the order of sealablesOf. */
export function withPayloads(
  steps: readonly TransactionRequest[],
  sealed: readonly Sealable[],
): readonly TransactionRequest[] {
  let at = 0
  const next = (): { readonly payload: string } => ({ payload: sealed[at++]?.payload ?? '' })
  return steps.map((step) => ({
    ...step,
    operations: step.operations.map((operation) =>
      operation.type === 'push' ? { ...operation, item: { ...operation.item, ...next() } } : operation,
    ),
    timers: step.timers.map((timer) => (timer.op === 'schedule' ? { ...timer, ...next() } : timer)),
  }))
}
