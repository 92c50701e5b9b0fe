// Sends a step that must commit only while locks are held: their guards stand before its own key/value operations and are taken
// out of the answer again. A guard that lost because its owner renewed meanwhile is sent anew with the token of now; one that
// lost to anybody else is the verdict, and its lock hears of it.
import type { Guardian } from './locks/held-lock.ts'
import type { OutgoingStep, StepAnswer, Transport } from './transport.ts'

/** The verdict on a step whose lock was lost. */
export interface LockLost {
  readonly success: false
  readonly reason: 'lock_lost'
  readonly lock: string
  readonly error: string
}

/** A lock renews at a third of its life: more than a few tokens in one commit's time are not to be had. */
const TOKENS = 4

export async function guardedCommit(
  send: Transport['transaction'],
  step: OutgoingStep,
  guardians: readonly Guardian[],
): Promise<StepAnswer | LockLost> {
  if (guardians.length === 0) return send(step)
  const guards = guardians.map((guardian) => guardian.guard())
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send({ ...step, kv: [...guards, ...step.kv] })
    if (answer.success) return { ...answer, kv: answer.kv.slice(guards.length) }
    if (answer.reason !== 'kv_precondition') return answer
    const at = answer.failedIndex - step.operations.length
    const guardian = guardians[at]
    const guard = guards[at]
    if (guardian === undefined || guard === undefined) {
      return { ...answer, failedIndex: answer.failedIndex - guards.length }
    }
    if (attempt < TOKENS && answer.version !== null && movedByOwner(answer.kvReason, answer.value, guardian.owner)) {
      guards[at] = { ...guard, expect: answer.version }
      continue
    }
    guardian.forfeit()
    const error = `the lock '${guardian.name}' is lost: rolled back, nothing was written`
    return { success: false, reason: 'lock_lost', lock: guardian.name, error }
  }
}

/** Whether what stands there now is the owner's own renewal. */
export function movedByOwner(kvReason: string, value: string | null, owner: string): boolean {
  if (kvReason !== 'version' || value === null) return false
  const permit: unknown = JSON.parse(value)
  return typeof permit === 'object' && permit !== null && Reflect.get(permit, 'owner') === owner
}
