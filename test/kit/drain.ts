// Consumes for a group until a pop finds nothing, the way a consumer does: answers that say "again" are followed.
import { ack } from '../../src/operations/ack.ts'
import { pop, type PopRequest } from '../../src/operations/pop.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import type { TestDatabase } from '../../src/testing/database.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { ackOf, popOf } from './speech.ts'

/** All that was delivered, in the order of delivery. */
export async function drain(
  own: Pick<TestDatabase, 'database'>,
  queue: string,
  group: string,
  over: Partial<PopRequest> = {},
): Promise<readonly Delivery[]> {
  const all: Delivery[] = []
  let waitStaged = false
  for (;;) {
    const { answers, again } = await pop(own.database, {
      ...popOf(queue, group, { batch: 1000, partitions: 1000 }),
      waitStaged,
      ...over,
      leaseIds: [mintId()],
    })
    const got = answers.flat()
    all.push(...got)
    waitStaged = again === 'staged'
    if (got.length === 0 && again === 'no') return all
    if (got.length > 0 && over.autoAck !== true) {
      const lost = (await ack(own.database, [got.map((one) => ackOf(one))])).flat().filter((one) => !one.success)
      if (lost.length > 0) throw new Error(`an ack of a live lease was refused: ${lost[0]?.error ?? ''}`)
    }
  }
}

/** Transaction ids per partition, in the order of delivery. */
export function byPartition(deliveries: readonly Delivery[]): Readonly<Record<string, readonly string[]>> {
  const lists: Record<string, string[]> = {}
  for (const { partition, transactionId } of deliveries) (lists[partition] ??= []).push(transactionId)
  return lists
}
