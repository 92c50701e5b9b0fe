// Encodes what the locks route answers: one entry per operation, with the guard that a transaction takes.
import { lockGuard } from './lock.ts'
import type { LockOperation, LockResult } from './lock.ts'

const DONE = { acquire: 'acquired', renew: 'renewed', release: 'released' } as const

function told(operation: LockOperation, result: LockResult): Readonly<Record<string, unknown>> {
  const { name } = operation
  if (result.op === 'get') return { held: result.holders.length > 0, holders: result.holders }
  const done = DONE[result.op]
  if (!result.done) {
    const slot = 'slot' in operation ? { slot: operation.slot } : {}
    return { [done]: false, reason: result.reason, ...slot, holders: result.holders }
  }
  if (result.op === 'release') return { released: true, slot: result.slot }
  const { slot, token } = result
  const held = { slot, token, guard: lockGuard(name, slot, token) }
  if (result.op === 'renew') return { renewed: true, ...held }
  const owner = operation.op === 'acquire' ? operation.owner : null
  return { acquired: true, ...held, owner, ...(result.already ? { already: true } : {}) }
}

export function encodeLocks(operations: readonly LockOperation[], results: readonly LockResult[]): string {
  return JSON.stringify({
    results: operations.map((operation, index) => {
      const result = results[index]
      const { op, name } = operation
      return { index, op, name, ...(result === undefined ? {} : told(operation, result)) }
    }),
  })
}
