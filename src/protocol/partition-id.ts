// The wire's partition id: the queue's id followed by twelve digits of the partition's id, as decimal text. Clients treat it
// as opaque; an ack names only this, and the verb needs the queue to find its rows.

const DIGITS = 12

export interface PartitionKey {
  readonly queueId: string
  readonly partitionId: string
}

export function formatPartitionId(queueId: string, partitionId: string): string {
  return queueId + partitionId.padStart(DIGITS, '0')
}

/** Null when the text is no partition id at all. */
export function parsePartitionId(text: string): PartitionKey | null {
  if (!/^[0-9]{13,22}$/.test(text)) return null
  const queueId = text.slice(0, -DIGITS)
  if (Number(queueId) > 2_147_483_647) return null
  return { queueId, partitionId: String(Number(text.slice(-DIGITS))) }
}
