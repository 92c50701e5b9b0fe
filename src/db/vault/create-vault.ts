// A process's vault: its ring, and for a short time which queues are encrypted, so that a push asks once and not each time. What it
// believes may be wrong for that time; PostgreSQL refuses a plain payload then, and the push asks again.
import { LIMITS } from '../../protocol/limits.ts'
import type { AskEncrypted, Sealable, Vault } from '../../protocol/vault.ts'
import type { KeyRing } from './key-ring.ts'
import { isSealed, open, seal } from './seal.ts'

interface Belief {
  readonly encrypted: boolean
  readonly untilMs: number
}

export function createVault(ring: KeyRing, now: () => number = () => performance.now()): Vault {
  const beliefs = new Map<string, Belief>()
  const keys = ring.all.map((key) => key.id)
  const marks = ring.all.map((key) => key.mark)

  async function learn(queues: readonly string[], ask: AskEncrypted): Promise<void> {
    const encrypted = new Set(await ask(queues, keys, marks))
    if (beliefs.size + queues.length > LIMITS.encryptionMemoryQueues) beliefs.clear()
    const untilMs = now() + LIMITS.encryptionMemoryMs
    for (const queue of queues) beliefs.set(queue, { encrypted: encrypted.has(queue), untilMs })
  }

  const isKnown = (queue: string): boolean => (beliefs.get(queue)?.untilMs ?? 0) > now()

  return {
    keys,

    async sealAll<T extends Sealable>(items: readonly T[], ask: AskEncrypted): Promise<readonly T[]> {
      const unknown = new Set(items.map((item) => item.queue).filter((queue) => !isKnown(queue)))
      if (unknown.size > 0) await learn([...unknown], ask)
      if (!items.some((item) => beliefs.get(item.queue)?.encrypted)) return items
      return items.map((item) =>
        beliefs.get(item.queue)?.encrypted && !isSealed(item.payload) ? { ...item, payload: seal(ring, item) } : item,
      )
    },

    seal: (item) => seal(ring, item),
    open: (place, payload) => (isSealed(payload) ? open(ring, place, payload) : payload),

    forget(queues) {
      for (const queue of queues) beliefs.delete(queue)
    },
  }
}
