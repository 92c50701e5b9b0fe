// The loop over an ephemeral queue: an endless AsyncIterable that polls, hands out one message at a time, and completes it when
// the next one is asked for. However it ends (break, throw, `return`, the signal, the client's close), what was taken and not
// completed is given back for another delivery. A poll that fails is tried again with a growing pause.
import { LockstepError } from '../../protocol/errors.ts'
import type { EphemeralAck, EphemeralMessage as Delivered } from '../../protocol/ephemeral.ts'
import type { Deliveries } from '../consume/deliveries.ts'
import { pauseUnless, stopSwitch } from '../consume/stop-switch.ts'
import { errorLine, type Logger } from '../logger.ts'
import type { EphemeralCalls } from './ephemeral-calls.ts'
import { ephemeralMessage, type EphemeralMessage } from './ephemeral-message.ts'
import type { EphemeralPlan } from './ephemeral-plan.ts'

export interface MessagesPorts {
  readonly calls: EphemeralCalls
  readonly log: Logger
  /** Keeps the loop for the client's close. */
  readonly keep: (loop: { stop(): void; abandon(): void; readonly done: Promise<void> }) => void
}

const BATCH = 10
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** What is done is told at least this often, so that a slow loop's leases do not lapse over messages already worked on. */
const TELL_MS = 1_000

export function ephemeralMessages(
  { calls, log, keep }: MessagesPorts,
  plan: EphemeralPlan,
  signal: AbortSignal | undefined,
): Deliveries<EphemeralMessage<unknown>> {
  const { name: queue } = plan.definition
  const batch = plan.batch ?? BATCH
  const polling: EphemeralPlan = { ...plan, wait: true }
  const acking = plan.autoAck && !plan.commitOnDelivery
  const stopping = stopSwitch()
  let waiting: readonly Delivered[] = []
  let inHand: string | null = null
  let finished: EphemeralAck[] = []
  let toldAt = 0
  let last: Promise<unknown> = Promise.resolve()
  let kept = false
  let ending: Promise<void> | null = null
  let ended: () => void = () => {}
  const done = new Promise<void>((resolve) => {
    ended = resolve
  })
  const stop = (): void => stopping.throw()
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop, { once: true })

  /** A lost ack brings the message again: the loop goes on. */
  async function tell(acks: readonly EphemeralAck[]): Promise<void> {
    if (acks.length === 0) return
    try {
      await calls.ack(queue, plan.group, acks)
    } catch (error) {
      log.warn({ queue, error: errorLine(error) }, 'ephemeral messages could not be acknowledged and may come again')
    }
  }

  async function tellFinished(): Promise<void> {
    const acks = finished
    finished = []
    await tell(acks)
  }

  async function poll(): Promise<readonly Delivered[]> {
    for (let pauseMs = FIRST_PAUSE_MS; !stopping.thrown; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const given = new AbortController()
      const forget = stopping.onThrown(() => given.abort())
      try {
        return await calls.pop(polling, batch, given.signal)
      } catch (error) {
        if (!(error instanceof LockstepError) || error.retry === 'never') throw error
        log.warn({ queue, code: error.code, error: errorLine(error) }, 'a poll failed; trying again')
      } finally {
        forget()
      }
      await pauseUnless(stopping, pauseMs)
    }
    return []
  }

  async function step(): Promise<IteratorResult<EphemeralMessage<unknown>, undefined>> {
    if (inHand !== null) {
      finished.push({ id: inHand, status: 'completed' })
      inHand = null
    }
    while (!stopping.thrown) {
      if (waiting.length === 0) {
        await tellFinished()
        waiting = await poll()
        toldAt = performance.now()
      } else if (performance.now() - toldAt > TELL_MS) {
        await tellFinished()
        toldAt = performance.now()
      }
      const [delivered, ...rest] = waiting
      if (delivered === undefined) continue
      const message = await ephemeralMessage(plan, delivered, log)
      waiting = rest
      if (message === null && !plan.commitOnDelivery) finished.push({ id: delivered.id, status: 'completed' })
      if (message === null) continue
      if (acking) inHand = delivered.id
      return { done: false, value: message }
    }
    await end()
    return { done: true, value: undefined }
  }

  function end(): Promise<void> {
    stop()
    ending ??= giveBack()
    return ending
  }

  async function giveBack(): Promise<void> {
    signal?.removeEventListener('abort', stop)
    const left = [...(inHand === null ? [] : [inHand]), ...waiting.map(({ id }) => id)]
    waiting = []
    inHand = null
    await tellFinished()
    if (!plan.commitOnDelivery) await tell(left.map((id) => ({ id, status: 'retry' })))
    ended()
  }

  /** One after the other, whoever asks. A fault ends the loop. */
  async function next(): Promise<IteratorResult<EphemeralMessage<unknown>, undefined>> {
    if (!kept) {
      kept = true
      keep({ stop: halt, abandon: () => void end(), done })
    }
    const before = last
    const turn = (async () => {
      await before
      try {
        return await step()
      } catch (error) {
        await end()
        throw error
      }
    })()
    last = turn.catch(() => {})
    return turn
  }

  /** The client closes: nothing more is taken; a message that is being worked on is waited for. */
  function halt(): void {
    stop()
    if (inHand === null) void last.then(end)
  }

  const messages: Deliveries<EphemeralMessage<unknown>> = {
    next,
    async return() {
      stop()
      await last
      await end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => messages,
    async [Symbol.asyncDispose]() {
      await messages.return()
    },
  }
  return messages
}
