// The ephemeral queues of one broker: which there are, who waits for their messages, and the bound on all of them together.
// Contents live here only and end with the broker; other brokers have their own. What was configured is asked of the database,
// at most once in five seconds, so that a declaration made through another broker holds here too.
import { randomBytes } from 'node:crypto'
import { EPHEMERAL_DEFAULTS } from '../../protocol/ephemeral.ts'
import type {
  EphemeralAck,
  EphemeralAckResult,
  EphemeralDepth,
  EphemeralMessage,
  EphemeralOptions,
  EphemeralPop,
} from '../../protocol/ephemeral.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { createEphemeralQueue } from './ephemeral-queue.ts'
import type { EphemeralQueue } from './ephemeral-queue.ts'

export interface Ephemeral {
  configure(queue: string, options: EphemeralOptions): void
  push(queue: string, partition: string, payloads: readonly string[]): Promise<number>
  /** Answers within the wait; the signal ends it early. */
  pop(wish: EphemeralPop, signal: AbortSignal): Promise<readonly EphemeralMessage[]>
  ack(queue: string, group: string, acks: readonly EphemeralAck[]): readonly EphemeralAckResult[]
  reset(queue: string): number
  /** Whether this broker held the queue. */
  remove(queue: string): boolean
  list(): Promise<readonly EphemeralDepth[]>
  depth(queue: string): Promise<EphemeralDepth | null>
  /** Answers everybody who waits empty; nothing waits afterwards. */
  drain(): void
  readonly waiting: number
  readonly bytes: number
}

export interface EphemeralPorts {
  readonly declared: () => Promise<ReadonlyMap<string, EphemeralOptions>>
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

interface Waiter {
  readonly wish: EphemeralPop
  readonly until: number
  readonly settle: (messages: readonly EphemeralMessage[]) => void
}

const DECLARED_FOR_MS = 5_000
const SWEEP_MS = 1_000

export function createEphemeral({ declared, now = () => performance.now() }: EphemeralPorts): Ephemeral {
  const life = randomBytes(8).toString('hex')
  const queues = new Map<string, EphemeralQueue>()
  const waiters = new Map<string, Set<Waiter>>()
  const alarms = new Map<string, NodeJS.Timeout>()
  let known: Promise<ReadonlyMap<string, EphemeralOptions>> | null = null
  let knownAt = -Infinity
  let bytes = 0
  let waiting = 0
  let sweptAt = now()
  let drained = false

  function declarations(): Promise<ReadonlyMap<string, EphemeralOptions>> {
    if (known === null || now() - knownAt > DECLARED_FOR_MS) {
      knownAt = now()
      known = declared().then(adopt, (error: unknown) => {
        known = null
        throw error
      })
    }
    return known
  }

  function adopt(found: ReadonlyMap<string, EphemeralOptions>): ReadonlyMap<string, EphemeralOptions> {
    for (const [name, queue] of queues) {
      const options = found.get(name)
      queue.declared = options !== undefined
      queue.options = options ?? EPHEMERAL_DEFAULTS
    }
    return found
  }

  async function queueOf(name: string): Promise<EphemeralQueue> {
    const found = await declarations()
    sweep()
    const open = queues.get(name)
    if (open) return open
    if (queues.size >= LIMITS.ephemeralQueues) {
      throw new LockstepError('ephemeral_full', `this broker has at most ${LIMITS.ephemeralQueues} ephemeral queues`)
    }
    const options = found.get(name)
    const queue = createEphemeralQueue(life, options ?? EPHEMERAL_DEFAULTS, options !== undefined)
    queues.set(name, queue)
    return queue
  }

  function sweep(): void {
    if (now() - sweptAt < SWEEP_MS) return
    sweptAt = now()
    for (const queue of queues.values()) queue.sweep(sweptAt)
    recount()
  }

  function recount(): void {
    bytes = 0
    for (const queue of queues.values()) bytes += queue.bytes
  }

  /** Null: it is worth waiting for more. */
  function look(queue: EphemeralQueue, wish: EphemeralPop, last: boolean): readonly EphemeralMessage[] | null {
    const { group, partition, batch, commit } = wish
    const { windowBuffer } = queue.options
    if (windowBuffer !== null && !last) {
      const { count, since } = queue.ready(group, partition, now())
      if (count < Math.min(batch, windowBuffer.count) && now() < since + windowBuffer.ms) return null
    }
    const messages = queue.take(group, partition, batch, now(), commit)
    return messages.length > 0 || last ? messages : null
  }

  /** Serves who waits for this queue, in the order they came, and sets the alarm for the next moment that matters. */
  function serve(name: string): void {
    const queue = queues.get(name)
    const here = waiters.get(name)
    clearTimeout(alarms.get(name))
    alarms.delete(name)
    if (!here) return
    let next = Infinity
    for (const waiter of here) {
      const messages = queue ? look(queue, waiter.wish, now() >= waiter.until) : []
      if (messages !== null) {
        waiter.settle(messages)
        continue
      }
      next = Math.min(next, waiter.until, queue ? momentOf(queue, waiter.wish) : Infinity)
    }
    if (here.size > 0)
      alarms.set(
        name,
        setTimeout(() => serve(name), Math.max(1, Math.ceil(next - now()))),
      )
  }

  function momentOf(queue: EphemeralQueue, { group, partition }: EphemeralPop): number {
    const { count, since } = queue.ready(group, partition, now())
    const gathered = count > 0 && queue.options.windowBuffer ? since + queue.options.windowBuffer.ms : Infinity
    return Math.min(gathered, queue.nextLapse(group))
  }

  function park(wish: EphemeralPop, signal: AbortSignal): Promise<readonly EphemeralMessage[]> {
    if (waiting >= LIMITS.parkedPolls) {
      throw new LockstepError('overloaded', `more than ${LIMITS.parkedPolls} polls are parked`)
    }
    return new Promise((resolve) => {
      const here = waiters.get(wish.queue) ?? new Set()
      waiters.set(wish.queue, here)
      const waiter: Waiter = { wish, until: now() + wish.waitMs, settle }
      const leave = (): void => settle([])
      function settle(messages: readonly EphemeralMessage[]): void {
        if (!here.delete(waiter)) return
        waiting -= 1
        if (here.size === 0) waiters.delete(wish.queue)
        signal.removeEventListener('abort', leave)
        resolve(messages)
      }
      waiting += 1
      here.add(waiter)
      signal.addEventListener('abort', leave)
      serve(wish.queue)
    })
  }

  return {
    configure(name, options) {
      known = null
      const queue = queues.get(name)
      if (queue) Object.assign(queue, { options, declared: true })
      serve(name)
    },
    async push(name, partition, payloads) {
      const queue = await queueOf(name)
      bytes += queue.push(partition, payloads, now(), LIMITS.ephemeralBytes - bytes)
      serve(name)
      return payloads.length
    },
    async pop(wish, signal) {
      const queue = await queueOf(wish.queue)
      const last = wish.waitMs === 0 || drained || signal.aborted
      const messages = signal.aborted ? [] : look(queue, wish, last)
      const answer = messages ?? (await park(wish, signal))
      recount()
      return answer
    },
    ack(name, group, acks) {
      const queue = queues.get(name)
      if (!queue) return acks.map(({ id }) => ({ id, outcome: 'stale' }))
      const results = queue.settle(group, acks, now())
      recount()
      serve(name)
      return results
    },
    reset(name) {
      const dropped = queues.get(name)?.reset() ?? 0
      recount()
      return dropped
    },
    remove(name) {
      known = null
      const held = queues.delete(name)
      recount()
      return held
    },
    async list() {
      const found = await declarations()
      for (const name of found.keys()) if (!queues.has(name)) await queueOf(name)
      return [...queues].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, queue]) => queue.depth(name, now()))
    },
    async depth(name) {
      const found = await declarations()
      if (!queues.has(name) && !found.has(name)) return null
      return (await queueOf(name)).depth(name, now())
    },
    drain() {
      drained = true
      for (const here of waiters.values()) for (const waiter of here) waiter.settle([])
      for (const alarm of alarms.values()) clearTimeout(alarm)
    },
    get waiting() {
      return waiting
    },
    get bytes() {
      return bytes
    },
  }
}
