// The client over any transport: the entry of every sentence of the grammar, and its end. `close` stops the consumers,
// waits for their handlers, hands back what they had not begun, and lets go of the connections; nothing works after it.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { LockstepError } from '../protocol/errors.ts'
import { integer, root } from '../protocol/check.ts'
import type { Joinable } from '../protocol/joinable.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { AckItem } from '../protocol/message.ts'
import { ackItem, ackOutcome, type AckOptions, type AckOutcome, type AckRef, type AckVerb } from './ack-input.ts'
import { watchAttempts, type Attempts } from './attempts.ts'
import { bufferSet } from './buffer/buffer-set.ts'
import { consumerSet } from './consume/consumer-set.ts'
import { kvClient, type Kv } from './kv-client.ts'
import { liveTransport } from './live-transport.ts'
import { locksClient, type Locks } from './locks/locks-client.ts'
import type { Logger } from './logger.ts'
import { queueBuilder, type QueueEntry, type Way } from './queue-builder.ts'
import { definitionOf, type QueueDefinition } from './queue-definition.ts'
import { queueVerbs } from './queue-verbs.ts'
import { ephemeralEntry, type EphemeralEntry } from './ephemeral/ephemeral-queue.ts'
import { deadLettersClient, type DeadLetters } from './dead-letters/dead-letters-client.ts'
import { groupsClient, type Groups } from './groups/groups-client.ts'
import { messagesClient, type Messages } from './messages/messages-client.ts'
import { queuesClient, type Queues } from './queues/queues-client.ts'
import { streamEntry, type StreamEntry } from './streams/stream-entry.ts'
import { timersClient, type Timers } from './timers/timers-client.ts'
import { tracesClient, type Traces } from './traces/traces-client.ts'
import type { OpenClient } from './transaction-client.ts'
import { transactionBuilder, type Transaction } from './transaction-builder.ts'
import { transactionScope, type TransactionScope } from './transaction-scope.ts'
import type { JoinedTransaction, Transport } from './transport.ts'
import type { Worker, WorkerOptions } from '../workflow/define/worker.ts'
import { runEntry, type RunEntry } from '../workflow/run/run-entry.ts'
import { scheduleEntry, type Schedules } from '../workflow/run/schedule-entry.ts'
import type { Untyped } from './untyped.ts'
import { workerSet } from './worker-set.ts'

export interface RenewOutcome {
  readonly success: boolean
  readonly leaseId: string
  /** Partitions whose lease was still live. */
  readonly renewed: number
  /** By the database's clock. */
  readonly expiresAt: string | null
}

export interface CloseOptions {
  /** How long handlers at work may take to finish; then their messages are handed back. Default 30,000. */
  readonly timeoutMs?: number | undefined
}

export interface Acknowledge {
  (message: AckRef, status?: AckVerb, options?: AckOptions): Promise<AckOutcome>
  (messages: readonly AckRef[], status?: AckVerb, options?: AckOptions): Promise<readonly AckOutcome[]>
}

/** A lease, or a message that carries it. */
export type Leased = string | { readonly leaseId: string }

export interface Client<W extends Way> extends RunEntry {
  readonly queue: QueueEntry<W>
  readonly kv: Kv
  /** Locks and semaphores. */
  readonly locks: Locks
  /** Messages that are pushed later. */
  readonly timers: Timers
  /** Queues in the memory of a broker; only through one. */
  readonly ephemeral: EphemeralEntry
  /** A stream that was declared with `stream` of `lockstep/streams`. */
  readonly stream: StreamEntry
  /** Messages that were given up. */
  readonly deadLetters: DeadLetters
  /** Consumer groups, with what each has before it. */
  readonly groups: Groups
  /** Queues with their counts. */
  readonly queues: Queues
  /** Messages looked up, without a claim. */
  readonly messages: Messages
  /** What was noted of messages' ways. */
  readonly traces: Traces
  readonly ack: Acknowledge
  /** Makes a lease last at least this much longer, 60 seconds unless said. Never brings a lapsed one back. */
  readonly renew: (lease: Leased, seconds?: number) => Promise<RenewOutcome>
  readonly transaction: () => Transaction
  readonly schedules: Schedules
  /** Joins a transaction that is open on the caller's own connection: a `pg` client, or what an adapter makes of its library's. */
  readonly in: (tx: OpenClient | Joinable) => TransactionScope
  /** Runs actions and workflows in this process; only straight to PostgreSQL. `close` stops it too. */
  readonly worker: (options: WorkerOptions) => Worker
  /** Sends what the buffers of its queues hold; resolves when all of it has its verdict, rejects with the first fault. */
  readonly flush: () => Promise<void>
  /** Brings the database's lockstep schema up to this version. */
  readonly migrate: () => Promise<void>
  readonly close: (options?: CloseOptions) => Promise<void>
}

export interface ClientParts {
  /** At the first verb, not before. */
  readonly open: () => Promise<Transport>
  readonly log: Logger
  /** Straight to PostgreSQL, so that a step can be one transaction with the user's rows. */
  readonly inProcess: boolean
  /** Refuses at once what is certainly no open transaction. */
  readonly join: (tx: OpenClient | Joinable) => () => Promise<JoinedTransaction>
}

const CLOSE_MS = 30_000
/** For buffered messages, when the handlers took all the time. */
const LAST_FLUSH_MS = 1_000
/** A timer past 2^31 - 1 ms fires at once. */
const patience = integer(0, 86_400_000)
const renewSeconds = integer(1, LIMITS.leaseSeconds)

async function acknowledge(
  transport: Transport,
  attempts: Attempts,
  items: readonly AckItem[],
): Promise<readonly AckOutcome[]> {
  if (items.length === 0) return []
  attempts.refuseInStep(items)
  const results = await transport.ack(items)
  return items.map((item, index) => {
    const result = results[index]
    if (result === undefined) throw new LockstepError('internal', 'an ack has no answer')
    const outcome = ackOutcome(item, result)
    if (outcome.success) attempts.acked(item, outcome)
    else if (outcome.reason === 'lease_lost') attempts.leaseLost(item)
    return outcome
  })
}

function ackVerb(transport: Transport, attempts: Attempts): Acknowledge {
  async function ack(message: AckRef, status?: AckVerb, options?: AckOptions): Promise<AckOutcome>
  async function ack(
    messages: readonly AckRef[],
    status?: AckVerb,
    options?: AckOptions,
  ): Promise<readonly AckOutcome[]>
  async function ack(
    messages: AckRef | readonly AckRef[],
    status?: AckVerb,
    options?: AckOptions,
  ): Promise<AckOutcome | readonly AckOutcome[]> {
    if (isList(messages))
      return acknowledge(
        transport,
        attempts,
        messages.map((ref) => ackItem(ref, status, options)),
      )
    const [outcome] = await acknowledge(transport, attempts, [ackItem(messages, status, options)])
    if (outcome === undefined) throw new LockstepError('internal', 'an ack has no answer')
    return outcome
  }
  return ack
}

function isList(messages: AckRef | readonly AckRef[]): messages is readonly AckRef[] {
  return Array.isArray(messages)
}

export function clientOver<W extends Way>(parts: ClientParts): Client<W> {
  let closing: Promise<void> | null = null
  const consumers = consumerSet()
  const attempts = watchAttempts()
  const transport = liveTransport(parts.open)
  const workers = workerSet(transport.work)
  const buffers = bufferSet(transport, parts.log)

  const locks = locksClient(transport.locks, parts.log)

  async function end(timeoutMs: number): Promise<void> {
    const started = performance.now()
    buffers.hurry()
    await Promise.all([consumers.drain(timeoutMs), workers.stop(timeoutMs)])
    await buffers.close(Math.max(LAST_FLUSH_MS, timeoutMs - (performance.now() - started)))
    await locks.end()
    await transport.close()
  }

  const verbs = queueVerbs({
    transport,
    buffers,
    attempts,
    log: parts.log,
    inProcess: parts.inProcess,
    run: consumers.run,
  })
  return {
    queue: (given: string | QueueDefinition<string, Untyped, Untyped>, schema?: StandardSchemaV1) =>
      queueBuilder<W>(verbs, definitionOf(given, schema)),
    kv: kvClient(transport.kv),
    locks: locks.locks,
    timers: timersClient(transport),
    ephemeral: ephemeralEntry({
      ask: transport.ask,
      log: parts.log,
      inProcess: parts.inProcess,
      keep: (loop) => void consumers.run(loop),
    }),
    stream: streamEntry({ transport, log: parts.log, run: consumers.run }),
    deadLetters: deadLettersClient(transport.deadLetters),
    groups: groupsClient(transport.groups),
    queues: queuesClient(transport.queues),
    messages: messagesClient(transport.messages),
    traces: tracesClient(transport.traces),
    ack: ackVerb(transport, attempts),
    async renew(lease, seconds = LIMITS.extendSecondsDefault) {
      const leaseId = typeof lease === 'string' ? lease : lease.leaseId
      const { renewed, expiresAt } = await transport.renew(leaseId, renewSeconds.read(seconds, root(), 'seconds'))
      return { success: renewed > 0, leaseId, renewed, expiresAt }
    },
    transaction: () => transactionBuilder({ transaction: transport.transaction, attempts }),
    in: (tx) => transactionScope(parts.join(tx), transport.runs),
    ...runEntry(transport.runs),
    schedules: scheduleEntry(transport.schedules, transport.runs),
    worker: workers.make,
    flush: buffers.flush,
    migrate: async () => transport.migrate(),
    async close({ timeoutMs = CLOSE_MS } = {}) {
      closing ??= end(patience.read(timeoutMs, root(), 'timeoutMs'))
      return closing
    },
  }
}
