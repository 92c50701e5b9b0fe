// A step's transaction that is opened when it is first needed and holds a connection only from then on. What was asked for
// before it was open is sent through it first. Exactly one of commit and rollback ends it.
import { joinedTransaction } from '../../client/postgres/joined-transaction.ts'
import type { Database } from '../../db/pool.ts'
import type { Command } from '../../db/round-trip.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Completion } from '../../protocol/completion.ts'
import { openStep, type StepTransaction } from './step-transaction.ts'
import type { StepWrites } from './step-writes.ts'

export interface LazyStep {
  /** The same transaction at every call. */
  open(): Promise<StepTransaction>
  opened(): boolean
  commit(last: Command): Promise<string | null>
  rollback(): Promise<void>
}

export interface LazyStepPorts {
  readonly database: Database
  /** How long a library's transaction may stay open. */
  readonly stepMs: number
  /** Waits for a free connection's place; what it gives frees it. */
  readonly borrow: () => Promise<() => void>
}

export function createLazyStep(
  ports: LazyStepPorts,
  completion: Completion<unknown> | null,
  writes: () => StepWrites | null,
): LazyStep {
  let opening: Promise<StepTransaction> | null = null
  let giveBack: () => void = () => {}
  let over = false

  async function begin(): Promise<StepTransaction> {
    if (over) throw new LockstepError('not_a_transaction', 'the step has ended')
    giveBack = await ports.borrow()
    try {
      const step = await openStep(ports.database, completion, ports.stepMs)
      try {
        await writes()?.openOn(joinedTransaction(step.door))
      } catch (error) {
        await step.rollback()
        throw error
      }
      return step
    } catch (error) {
      over = true
      giveBack()
      throw error
    }
  }

  return {
    open: async () => (opening ??= begin()),
    opened: () => opening !== null,
    async commit(last) {
      const step = await (opening ??= begin())
      over = true
      try {
        return await step.commit(last)
      } finally {
        giveBack()
      }
    },
    async rollback() {
      if (opening === null) {
        over = true
        return
      }
      const step = await opening.catch(() => null)
      if (over || step === null) return
      over = true
      try {
        await step.rollback()
      } finally {
        giveBack()
      }
    },
  }
}
