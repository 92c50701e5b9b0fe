// Pop: leases the next messages of due lanes to one or several waiting pops that ask the same of the same queue and group.
import type { Executor, Row } from '../db/executor.ts'
import { openPayload } from '../db/vault/open-payload.ts'
import type { Delivery } from '../protocol/message.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'
import type { Vault } from '../protocol/vault.ts'

export interface PopRequest {
  readonly queue: string
  readonly partition: string | null
  readonly group: string
  /** One per joined pop: a fresh UUIDv7, which becomes the lease of whatever that pop receives. */
  readonly leaseIds: readonly string[]
  readonly batch: number
  readonly partitions: number
  /** Null: the queue's leaseTime. */
  readonly leaseSeconds: number | null
  readonly autoAck: boolean
  /** Where a group that is not known yet begins; ignored in queue mode. */
  readonly start: { readonly mode: 'all' | 'new' } | { readonly from: string }
  /** Opaque, from the last outcome of the same queue and group; null looks from the beginning. */
  readonly floor: string | null
  /** Wait for partitions whose staged messages another session is placing; only inside a lock_timeout. */
  readonly waitStaged: boolean
  /** Whether a group that is not known yet conflates; one that is known does as it was registered. */
  readonly conflation?: boolean
  /** How long minPopWaitTime has held these pops already; null or absent: they are not to be held. */
  readonly heldMs?: number | null
}

export interface PopOutcome {
  /** Aligned with leaseIds; an empty list is a pop that found nothing. */
  readonly answers: readonly (readonly Delivery[])[]
  readonly floor: string | null
  /**
   * backfill: call again at once. staged: committed messages wait for a partition that was held; call again with waitStaged.
   * held: what there is does not fill a batch; call again in `dueInMs` with how long it was held. busy: somebody else is claiming
   * what is due, and may leave some of it; call again in a moment.
   */
  readonly again: (typeof AGAIN)[number]
  /** The group delivers only the newest message of each partition. */
  readonly conflation: boolean
  /** Until the next delayed, backing-off or leased lane is due, or the hold is over; null when there is none. */
  readonly dueInMs: number | null
}

const AGAIN = ['no', 'backfill', 'staged', 'held', 'busy'] as const

const POP =
  'select * from lockstep.pop_joined($1, $2, $3, $4::text[], $5::int, $6::int, $7::int, $8::boolean, $9, $10::timestamptz, $11, $12::boolean, $13::boolean, $14::int, $15::text[])'

export async function pop(db: Executor, request: PopRequest): Promise<PopOutcome> {
  const { start } = request
  const [header, ...rows] = await db.rows(POP, [
    request.queue,
    request.partition,
    request.group,
    request.leaseIds,
    String(request.batch),
    String(request.partitions),
    request.leaseSeconds === null ? null : String(request.leaseSeconds),
    String(request.autoAck),
    'mode' in start ? start.mode : 'all',
    'from' in start ? start.from : null,
    request.floor,
    String(request.waitStaged),
    String(request.conflation ?? false),
    request.heldMs === null || request.heldMs === undefined ? null : String(Math.round(request.heldMs)),
    db.vault?.keys ?? [],
  ])
  const queueId = header?.[1] ?? '0'
  const answers: Delivery[][] = request.leaseIds.map(() => [])
  fill(answers, rows, queueId, request, db.vault)
  return {
    answers,
    floor: header?.[6] ?? null,
    again: AGAIN.find((word) => word === header?.[2]) ?? 'no',
    conflation: header?.[3] === '1',
    dueInMs: header?.[4] === null || header?.[4] === undefined ? null : Number(header[4]),
  }
}

/**
 * A payload that does not open ends what its lane gives: the rest comes again when the lease ends, alone from the second time on, and
 * reaches the dead letters like any message that nobody can work on. Its fault is thrown when there is nothing else to give.
 */
function fill(answers: Delivery[][], rows: readonly Row[], queueId: string, request: PopRequest, vault?: Vault): void {
  let fault: unknown = null
  const stopped = new Set<string>()
  for (const row of rows) {
    const lane = `${row[0] ?? ''} ${row[1] ?? ''}`
    if (stopped.has(lane)) continue
    try {
      answers[Number(row[0]) - 1]?.push(delivery(row, queueId, request, vault))
    } catch (error) {
      stopped.add(lane)
      fault = error
    }
  }
  // What was committed at delivery would be lost: the caller's transaction undoes it.
  if (fault !== null && (request.autoAck || answers.every((messages) => messages.length === 0))) throw fault
}

function delivery(row: Row, queueId: string, request: PopRequest, vault?: Vault): Delivery {
  const [at, partitionId, partition, attempt, offset, id, transactionId, traceId, payload, producerSub, createdAt] = row
  return {
    id: id ?? '',
    transactionId: transactionId ?? '',
    traceId: traceId ?? null,
    payload: openPayload(
      vault,
      { queue: request.queue, partition: partition ?? '', messageId: id ?? '' },
      payload ?? 'null',
    ),
    producerSub: producerSub ?? null,
    createdAt: createdAt ?? '',
    queue: request.queue,
    partitionId: formatPartitionId(queueId, partitionId ?? '0'),
    partition: partition ?? '',
    leaseId: request.autoAck ? '' : (request.leaseIds[Number(at) - 1] ?? ''),
    consumerGroup: request.group,
    deliveryAttempt: Number(attempt),
    offset: Number(offset),
  }
}
