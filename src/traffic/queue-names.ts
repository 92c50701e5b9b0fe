// Which queue a partition id belongs to, learnt from what was delivered here: an ack names only the partition, and the bell
// is rung by queue. A saving, not a truth: what is not known is found by the next look.

const DIGITS = 12
const KEPT = 10_000

export interface QueueNames {
  learn(partitionId: string, queue: string): void
  of(partitionId: string): string | null
}

export function createQueueNames(): QueueNames {
  const names = new Map<string, string>()
  return {
    learn(partitionId, queue) {
      const id = partitionId.slice(0, -DIGITS)
      if (names.has(id)) return
      if (names.size >= KEPT) names.clear()
      names.set(id, queue)
    },
    of: (partitionId) => names.get(partitionId.slice(0, -DIGITS)) ?? null,
  }
}
