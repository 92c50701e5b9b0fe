// Pushes of one queue, gathered and sent together in the order they came. It is bounded by count and by bytes, what is on its
// way included: past that a push waits for room. Ids are minted before the first send, so what is sent again after a lost
// answer is stored once; nothing is dropped but by a fault that would come again, and each push hears of its own messages.
import { pauseUnless, stopSwitch } from '../consume/stop-switch.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { PushResult } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { utf8Length } from '../../protocol/utf8.ts'
import { errorLine, type Logger } from '../logger.ts'
import { pushOutcome, type PushOutcome } from '../push-input.ts'
import type { OutgoingItem, StagedItem } from '../transport.ts'
import type { BufferBounds } from './buffer-options.ts'

/** Resolves with the verdicts, as a push without a buffer does. */
export interface BufferedPush extends Promise<readonly PushOutcome[]> {
  /** Resolves when there was room for all of it: a producer that awaits this goes as fast as the queue takes it. */
  readonly taken: Promise<void>
}

export interface BufferStatus {
  /** Held, those on their way included. */
  readonly messages: number
  readonly bytes: number
  /** Pushes that wait for room. */
  readonly waiting: number
}

export interface PushBuffer {
  readonly push: (prepare: () => Promise<readonly StagedItem[]>) => BufferedPush
  /** Sends at once; resolves when all that was pushed before has its verdict, and rejects with the first fault among them. */
  readonly flush: () => Promise<void>
  /** From now on nothing waits for its time. */
  readonly hurry: () => void
  readonly status: () => BufferStatus
  /** Sends what is left for so long; then it is given up, and its pushes are told. */
  readonly close: (timeoutMs: number) => Promise<void>
}

export interface BufferPorts {
  readonly queue: string
  readonly send: (items: readonly OutgoingItem[]) => Promise<readonly PushResult[]>
  readonly log: Logger
}

interface Entry {
  readonly item: OutgoingItem
  readonly bytes: number
  /** Its id is ours, so that a duplicate is itself. */
  readonly minted: boolean
  readonly settle: (outcome: PushOutcome) => void
  readonly fail: (fault: unknown) => void
}

interface Waiting {
  readonly entries: readonly Entry[]
  /** Entries before this one are in. */
  next: number
  readonly taken: () => void
}

const LONGEST_PAUSE_MS = 30_000
/** Of what travels beside payload and names. */
const ITEM_BYTES = 100

function bytesOf({ payload, transactionId, partition, traceId }: StagedItem): number {
  const beside = (transactionId?.length ?? 0) + partition.length + (traceId?.length ?? 0)
  return utf8Length(payload) + beside + ITEM_BYTES
}

/** What may come again: the ids make a second arrival harmless. */
function isPassing(error: unknown): boolean {
  return error instanceof LockstepError && (error.retry !== 'never' || error.code === 'outcome_unknown')
}

function outcomeOf({ minted }: Entry, result: PushResult): PushOutcome {
  const outcome = pushOutcome(result)
  return minted && outcome.status === 'duplicate' ? { ...outcome, status: 'queued' } : outcome
}

/** Without their values, which would hold all that was ever pushed. */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
}

export function createPushBuffer({ queue, send, log }: BufferPorts, bounds: BufferBounds): PushBuffer {
  const waiting: Waiting[] = []
  const pending: Entry[] = []
  let onWay: readonly Entry[] = []
  const outstanding = new Set<Promise<unknown>>()
  const closing = stopSwitch()
  const over = stopSwitch()
  let messages = 0
  let bytes = 0
  let hurrying = 0
  let sending = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let order: Promise<unknown> = Promise.resolve()

  /** Lets in what there is room for, and sends when it is time. */
  function admit(): void {
    for (let push = waiting[0]; push !== undefined; push = waiting[0]) {
      for (let entry = push.entries[push.next]; entry !== undefined; entry = push.entries[push.next]) {
        if (messages >= bounds.maxSize || bytes + entry.bytes > bounds.maxBytes) return sendNow()
        messages += 1
        bytes += entry.bytes
        pending.push(entry)
        push.next += 1
      }
      waiting.shift()
      push.taken()
    }
    if (pending.length === 0) return undefined
    if (hurrying > 0 || pending.length >= bounds.messageCount) return sendNow()
    if (!sending) timer ??= setTimeout(sendNow, bounds.timeMillis)
    return undefined
  }

  function sendNow(): void {
    clearTimeout(timer)
    timer = undefined
    if (!sending && !over.thrown) void sendAll()
  }

  async function sendAll(): Promise<void> {
    sending = true
    while (pending.length > 0 && !over.thrown) {
      onWay = nextBatch()
      await sendBatch(onWay)
      messages -= onWay.length
      for (const entry of onWay) bytes -= entry.bytes
      onWay = []
      admit()
    }
    sending = false
  }

  function nextBatch(): readonly Entry[] {
    let count = 0
    let size = 0
    for (const entry of pending) {
      size += entry.bytes
      if (count === bounds.messageCount || (count > 0 && size > LIMITS.bufferBatchBytes)) break
      count += 1
    }
    return pending.splice(0, count)
  }

  async function sendBatch(batch: readonly Entry[]): Promise<void> {
    const items = batch.map(({ item }) => item)
    for (let pauseMs = bounds.retryDelayMillis; !over.thrown; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      try {
        tell(batch, await send(items))
        return
      } catch (error) {
        const details = { queue, messages: batch.length, error: errorLine(error) }
        if (!isPassing(error)) {
          log.warn(details, 'buffered messages could not be pushed')
          for (const { fail } of batch) fail(error)
          return
        }
        log.warn(details, 'buffered messages could not be pushed; trying again')
      }
      // A client that closes has little time.
      if (closing.thrown) await pauseUnless(over, Math.min(pauseMs, bounds.retryDelayMillis))
      else await pauseUnless(closing, pauseMs)
    }
  }

  function tell(batch: readonly Entry[], results: readonly PushResult[]): void {
    const refused: string[] = []
    for (const [index, entry] of batch.entries()) {
      const result = results[index]
      if (result === undefined) {
        entry.fail(new LockstepError('internal', 'a push has no answer'))
        continue
      }
      const outcome = outcomeOf(entry, result)
      if (outcome.status === 'rejected') refused.push(outcome.reason)
      entry.settle(outcome)
    }
    const [reason] = refused
    if (reason !== undefined) log.warn({ queue, messages: refused.length, reason }, 'buffered messages were refused')
  }

  function take(staged: readonly StagedItem[], taken: () => void): Promise<readonly PushOutcome[]> {
    if (over.thrown) throw new LockstepError('closed', 'the client was closed')
    if (waiting.length >= LIMITS.bufferWaiting) {
      const full = `${waiting.length} pushes wait for room in the buffer of '${queue}' already: await what push gives back`
      throw new LockstepError('overloaded', full)
    }
    const entries: Entry[] = []
    const verdicts = staged.map((item, index) => {
      const size = bytesOf(item)
      if (size > bounds.maxBytes) {
        const long = `items[${index}] has ${size} bytes, more than the buffer's maxBytes (${bounds.maxBytes})`
        throw new LockstepError('payload_too_large', long)
      }
      return new Promise<PushOutcome>((settle, fail) => {
        const { transactionId } = item
        const minted = transactionId === null
        entries.push({
          item: { ...item, transactionId: transactionId ?? mintId() },
          bytes: size,
          minted,
          settle,
          fail,
        })
      })
    })
    waiting.push({ entries, next: 0, taken })
    admit()
    return Promise.all(verdicts)
  }

  function giveUp(): void {
    over.throw()
    clearTimeout(timer)
    const unknown = new LockstepError('outcome_unknown', 'the client was closed before the answer to a push came')
    for (const { fail } of onWay) fail(unknown)
    const unsent = [...pending.splice(0), ...waiting.splice(0).flatMap((push) => push.entries.slice(push.next))]
    const never = new LockstepError('closed', 'the client was closed before this was pushed')
    for (const { fail } of unsent) fail(never)
    const lost = unsent.length + onWay.length
    if (lost > 0)
      log.warn({ queue, messages: lost }, 'a client was closed with buffered messages that could not be pushed')
  }

  async function flush(): Promise<void> {
    const pushed = [...outstanding]
    hurrying += 1
    admit()
    const faults = (await Promise.all(pushed)).filter((fault) => fault !== null)
    hurrying -= 1
    if (faults.length > 0) throw faults[0]
  }

  return {
    push(prepare) {
      let took = (): void => {}
      let refused: (error: unknown) => void = () => {}
      const taken = new Promise<void>((resolve, reject) => {
        took = resolve
        refused = reject
      })
      // Prepared side by side, taken in the order of the calls.
      const late = closing.thrown
      const prepared = prepare()
      const turn = Promise.all([prepared, order])
      order = settled([prepared, order])
      const verdicts = turn.then(async ([staged]) => {
        if (late) throw new LockstepError('closed', 'the client was closed')
        return take(staged, took)
      })
      const ended = verdicts.then(
        () => null,
        (fault: unknown) => {
          refused(fault)
          return fault
        },
      )
      // Whoever looks at one of the two, or at neither, is told by `flush` and the logger.
      taken.catch(() => {})
      outstanding.add(ended)
      void ended.then(() => outstanding.delete(ended))
      return Object.assign(verdicts, { taken })
    },
    flush,
    hurry() {
      hurrying += 1
      admit()
    },
    status: () => ({ messages, bytes, waiting: waiting.length }),
    async close(timeoutMs) {
      closing.throw()
      const patience = setTimeout(giveUp, timeoutMs)
      await new Promise<void>((resolve) => {
        over.onThrown(resolve)
        void flush().then(resolve, () => resolve())
      })
      clearTimeout(patience)
    },
  }
}
