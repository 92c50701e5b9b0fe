// Where pops wait: finds the lot of a pop, rings the lots of a queue, and bounds how many may be parked and how often all
// lots together may look at the database. It decides nothing about messages: what a look brings is the database's word.
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { Delivery } from '../protocol/message.ts'
import type { PopOutcome } from '../operations/pop.ts'
import type { PopWish } from '../protocol/pop-request.ts'
import { createLot } from './lot.ts'
import type { Lot, Waiter } from './lot.ts'

const PAUSE_MS = 1_000
/** With very many lots each one's pause grows, so that all of them together look at most 250 times per second. */
const PAUSE_PER_LOT_MS = 4

export interface Ticket {
  /** The client has gone: the place is free at once, and what is found for it goes elsewhere. */
  cancel(): void
}

export interface Parking {
  /**
   * Calls back once: with messages, with nothing when the time is over, or with the fault. `conflation` is whether the group
   * conflates; null when nobody looked.
   */
  wait(
    wish: PopWish,
    waitMs: number,
    settle: (messages: readonly Delivery[], conflation: boolean | null) => void,
    fail: (error: unknown) => void,
  ): Ticket
  /** Something happened to this queue: its parked pops are looked for. A partition or group narrows it. */
  ring(queue: string, partition?: string | null, group?: string | null): void
  /**
   * Rings when something happened to one of these queues, or may have, until the returned function is called. For readers that wait
   * without popping; so many may wait.
   */
  hear(queues: ReadonlySet<string>, bell: () => void): () => void
  /** Answers everybody empty; nothing waits here any more. */
  readonly closed: boolean
  /** Something may have happened anywhere. */
  ringAll(): void
  /** Answers everybody empty; later pops are answered empty at once. */
  close(): void
  /** Resolves when no look is in flight. */
  idle(): Promise<void>
  readonly parked: number
  readonly waiting: number
  readonly lots: number
}

export interface ParkingPorts {
  readonly look: (
    wish: PopWish,
    leaseIds: readonly string[],
    waitStaged: boolean,
    heldMs: number,
  ) => Promise<PopOutcome>
  readonly handBack: (leaseId: string, wish: PopWish) => void
}

export function createParking(ports: ParkingPorts): Parking {
  const lots = new Map<string, Lot>()
  const byQueue = new Map<string, QueueLots>()
  const bells = new Map<string, Set<() => void>>()
  let hearing = 0
  let waiting = 0
  let closed = false
  let looks = 0
  let idlers: (() => void)[] = []

  async function look(...given: Parameters<ParkingPorts['look']>): Promise<PopOutcome> {
    looks += 1
    try {
      return await ports.look(...given)
    } finally {
      looks -= 1
      // A turn later, so that whoever waits sees what the lot made of the outcome.
      if (looks === 0 && idlers.length > 0) setImmediate(settleIdlers)
    }
  }

  function settleIdlers(): void {
    if (looks > 0) return
    for (const resolve of idlers) resolve()
    idlers = []
  }

  function lotOf(wish: PopWish): Lot {
    const key = keyOf(wish)
    const known = lots.get(key)
    if (known) return known
    const lot = createLot(wish, {
      look: (leaseIds, waitStaged, heldMs) => look(wish, leaseIds, waitStaged, heldMs),
      handBack: (leaseId) => ports.handBack(leaseId, wish),
      pauseMs: () => Math.max(PAUSE_MS, lots.size * PAUSE_PER_LOT_MS),
      emptied: () => forget(key, lot),
    })
    lots.set(key, lot)
    let siblings = byQueue.get(wish.queue)
    if (!siblings) byQueue.set(wish.queue, (siblings = { anywhere: new Set(), byPartition: new Map() }))
    if (wish.partition === null) siblings.anywhere.add(lot)
    else {
      const there = siblings.byPartition.get(wish.partition)
      if (there) there.add(lot)
      else siblings.byPartition.set(wish.partition, new Set([lot]))
    }
    return lot
  }

  function forget(key: string, lot: Lot): void {
    if (lots.get(key) !== lot) return
    lots.delete(key)
    const { queue, partition } = lot.wish
    const siblings = byQueue.get(queue)
    if (!siblings) return
    siblings.anywhere.delete(lot)
    if (partition !== null) {
      const there = siblings.byPartition.get(partition)
      there?.delete(lot)
      if (there?.size === 0) siblings.byPartition.delete(partition)
    }
    if (siblings.anywhere.size + siblings.byPartition.size === 0) byQueue.delete(queue)
  }

  function ringBells(): void {
    for (const there of bells.values()) for (const bell of there) bell()
  }

  return {
    wait(wish, waitMs, settle, fail) {
      if (closed) {
        settle([], null)
        return { cancel() {} }
      }
      if (waiting >= LIMITS.parkedPolls) {
        throw new LockstepError('overloaded', `${LIMITS.parkedPolls} pops wait already; come back later`)
      }
      waiting += 1
      let over = false
      const end = (): boolean => {
        if (over) return false
        over = true
        waiting -= 1
        return true
      }
      const waiter: Waiter = {
        waitMs,
        settle: (messages, conflation) => {
          if (end()) settle(messages, conflation)
        },
        fail: (error) => {
          if (end()) fail(error)
        },
        timer: null,
        looked: false,
        busyLooks: 0,
        expired: false,
        gone: false,
      }
      const lot = lotOf(wish)
      lot.add(waiter)
      return {
        cancel() {
          if (end()) lot.remove(waiter)
        },
      }
    },

    hear(queues, bell) {
      if (hearing >= LIMITS.parkedFetches) {
        throw new LockstepError('overloaded', `${LIMITS.parkedFetches} fetches wait already; come back later`)
      }
      hearing += 1
      for (const queue of queues) {
        const there = bells.get(queue)
        if (there) there.add(bell)
        else bells.set(queue, new Set([bell]))
      }
      return () => {
        hearing -= 1
        for (const queue of queues) {
          const there = bells.get(queue)
          there?.delete(bell)
          if (there?.size === 0) bells.delete(queue)
        }
      }
    },

    get closed() {
      return closed
    },

    ring(queue, partition = null, group = null) {
      for (const bell of bells.get(queue) ?? []) bell()
      const siblings = byQueue.get(queue)
      if (!siblings) return
      ringThose(siblings.anywhere, group)
      if (partition === null) for (const there of siblings.byPartition.values()) ringThose(there, group)
      else ringThose(siblings.byPartition.get(partition) ?? NOBODY, group)
    },

    ringAll() {
      ringBells()
      for (const lot of lots.values()) lot.ring()
    },

    close() {
      closed = true
      ringBells()
      for (const lot of lots.values()) lot.close()
    },

    idle: () => (looks === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),

    get parked() {
      let parked = 0
      for (const lot of lots.values()) parked += lot.parked
      return parked
    },
    get waiting() {
      return waiting
    },
    get lots() {
      return lots.size
    },
  }
}

/** The lots of one queue: those that take from any partition, and those that wait for one. */
interface QueueLots {
  readonly anywhere: Set<Lot>
  readonly byPartition: Map<string, Set<Lot>>
}

const NOBODY: ReadonlySet<Lot> = new Set()

function ringThose(lots: ReadonlySet<Lot>, group: string | null): void {
  for (const lot of lots) if (group === null || lot.wish.group === group) lot.ring()
}

/** No name holds NUL, so it may part them. */
function keyOf(wish: PopWish): string {
  const start = 'mode' in wish.start ? wish.start.mode : `@${wish.start.from}`
  const partition = wish.partition === null ? '' : `=${wish.partition}`
  return `${wish.queue}\0${partition}\0${wish.group}\0${wish.batch}\0${wish.partitions}\0${wish.leaseSeconds ?? ''}\0${wish.autoAck ? 1 : 0}${wish.conflation ? 1 : 0}\0${start}`
}
