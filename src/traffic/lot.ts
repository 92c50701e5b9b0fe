// One lot: all pops that ask the same of the same queue and group. One look at the database serves many of them at once.
//
// A pop is fresh until a look has been made for it; then it is answered empty (it does not wait) or parked. Parked pops hold
// no connection and are looked for again when the lot is rung (a push or an ack in this process, a hint from another one),
// when the database said a lane becomes due, and after a growing pause in any case: the pause is the floor, the rest are hints.
// What a look brings for a pop whose client has gone goes to the next pop of the lot, or back to the queue at once. Pops that
// minPopWaitTime holds stand among the parked ones, whether they wait or not; the last look of each takes what there is. A pop
// that does not wait is not told that there is nothing while another process holds what is due for claims of its own: it is
// looked for again, a few times, a moment later.
import type { PopOutcome } from '../operations/pop.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { Delivery } from '../protocol/message.ts'
import { mintId } from '../protocol/mint-id.ts'
import type { PopWish } from '../protocol/pop-request.ts'

const FIRST_PAUSE_MS = 50
const SEATS = 64
/**
 * More would spare little, and it would make one of all the workers that pop and ack in turn: PostgreSQL then works for the
 * pops on one core and afterwards for their acks on one core. Half of them pop while the others ack.
 */
const MESSAGES_PER_LOOK = 400
/** A look for pops of many partitions locks more lanes than it may lease: the fewer beside it the better. */
const MESSAGES_PER_WIDE_LOOK = 4_000
/** One look at a time: a second one would find the lanes of the first locked and call that empty. One that lasts makes room. */
const LOOKS = 2
const LASTING_MS = 100
const FIRST_EAGER = 4
/** A claim of another process lasts a few milliseconds, one that reads many megabytes a hundred. */
const BUSY_MS = 15
const BUSY_LOOKS = 10

export interface Waiter {
  readonly waitMs: number
  /** `conflation`: whether the group conflates; null when no look was made. */
  readonly settle: (messages: readonly Delivery[], conflation: boolean | null) => void
  readonly fail: (error: unknown) => void
  timer: NodeJS.Timeout | null
  /** A look has been made for it and it was parked. */
  looked: boolean
  /** Looks that found what is due in another's hands. */
  busyLooks: number
  /** Its time is over: the look that is being made for it, or a last one of a pop that was held, ends it. */
  expired: boolean
  gone: boolean
}

export interface LotPorts {
  /** One look. It waits for staged messages when asked to; `heldMs` is how long minPopWaitTime has held its pops already. */
  readonly look: (leaseIds: readonly string[], waitStaged: boolean, heldMs: number) => Promise<PopOutcome>
  /** Hands a lease back that nobody is there for. */
  readonly handBack: (leaseId: string) => void
  /** The longest pause between looks for parked pops. */
  readonly pauseMs: () => number
  /** Nobody is left: the lot may be forgotten. */
  readonly emptied: () => void
}

export interface Lot {
  readonly wish: PopWish
  add(waiter: Waiter): void
  /** The client has gone, or gave up. */
  remove(waiter: Waiter): void
  ring(): void
  /** Answers everybody empty and looks no more. */
  close(): void
  readonly size: number
  readonly parked: number
}

export function createLot(wish: PopWish, ports: LotPorts): Lot {
  const fresh = new Set<Waiter>()
  const parked = new Set<Waiter>()
  /** They do not wait, but another process was claiming when they were looked for. */
  const postponed = new Set<Waiter>()
  const messagesPerLook = wish.partitions === 1 ? MESSAGES_PER_LOOK : MESSAGES_PER_WIDE_LOOK
  const seatsAtMost = Math.max(1, Math.min(SEATS, Math.floor(messagesPerLook / wish.batch)))
  let seated = 0
  let looks = 0
  let lasting = 0
  let scheduled = false
  let rung = false
  let staged = false
  let eager = FIRST_EAGER
  let pause = FIRST_PAUSE_MS
  let timer: NodeJS.Timeout | null = null
  let postponing: NodeJS.Timeout | null = null
  let closed = false
  let conflation: boolean | null = null
  /** Since when there is something, but less than a batch. */
  let heldSince: number | null = null

  function add(waiter: Waiter): void {
    if (closed) {
      waiter.settle([], conflation)
      return
    }
    if (waiter.waitMs > 0) waiter.timer = setTimeout(() => expire(waiter), waiter.waitMs)
    fresh.add(waiter)
    schedule()
  }

  function expire(waiter: Waiter): void {
    if (heldSince !== null && parked.delete(waiter)) {
      waiter.expired = true
      fresh.add(waiter)
      schedule()
    } else if (fresh.delete(waiter) || parked.delete(waiter)) finish(waiter, [])
    else waiter.expired = true
    forgetIfEmpty()
  }

  function remove(waiter: Waiter): void {
    waiter.gone = true
    if (waiter.timer) clearTimeout(waiter.timer)
    fresh.delete(waiter)
    parked.delete(waiter)
    postponed.delete(waiter)
    forgetIfEmpty()
  }

  function finish(waiter: Waiter, messages: readonly Delivery[]): void {
    if (waiter.timer) clearTimeout(waiter.timer)
    waiter.settle(messages, conflation)
  }

  function ring(): void {
    rung = true
    pause = FIRST_PAUSE_MS
    if (parked.size > 0) schedule()
  }

  function hasRoom(): boolean {
    return looks === lasting && looks < LOOKS
  }

  // One turn later, so that all pops read in this turn share the look.
  function schedule(): void {
    if (scheduled || !hasRoom() || closed) return
    scheduled = true
    setImmediate(start)
  }

  function start(): void {
    scheduled = false
    if (closed || !hasRoom()) return
    const seats = takeSeats()
    if (seats.length === 0) return
    if (timer) clearTimeout(timer)
    timer = null
    looks += 1
    seated += seats.length
    void look(seats)
  }

  /** Parked ones first, as they wait longest, and only so many as may find something; then the fresh ones. */
  function takeSeats(): Waiter[] {
    const seats: Waiter[] = []
    if (rung) {
      for (const waiter of parked) {
        if (seats.length >= Math.min(eager, seatsAtMost)) break
        seats.push(waiter)
      }
      for (const waiter of seats) parked.delete(waiter)
    }
    for (const waiter of fresh) {
      if (seats.length >= seatsAtMost) break
      seats.push(waiter)
    }
    for (const waiter of seats) fresh.delete(waiter)
    rung = false
    return seats
  }

  async function look(seats: readonly Waiter[]): Promise<void> {
    const leaseIds = seats.map(() => mintId())
    const heldMs = heldFor(seats)
    const waitStaged = staged
    staged = false
    let lasts = false
    const clock = setTimeout(() => {
      lasts = true
      lasting += 1
      if (fresh.size > 0 || rung) schedule()
    }, LASTING_MS)
    try {
      hand(seats, leaseIds, await ports.look(leaseIds, waitStaged, heldMs), waitStaged)
    } catch (error) {
      faulted(seats, error)
    }
    clearTimeout(clock)
    if (lasts) lasting -= 1
    looks -= 1
    seated -= seats.length
    proceed()
  }

  /** One whose own time is over is held no longer, and takes those that are looked for with it along. */
  function heldFor(seats: readonly Waiter[]): number {
    if (seats.some((waiter) => waiter.expired)) return Number.MAX_SAFE_INTEGER
    return heldSince === null ? 0 : performance.now() - heldSince
  }

  function hand(seats: readonly Waiter[], leaseIds: readonly string[], outcome: PopOutcome, waited: boolean): void {
    conflation = outcome.conflation
    const held = outcome.again === 'held'
    const found = outcome.answers.flatMap((messages, index) => (messages.length > 0 ? [{ messages, index }] : []))
    const empty: Waiter[] = []
    let next = 0
    for (const waiter of seats) {
      if (waiter.gone) continue
      const delivery = found[next]
      if (delivery) {
        next += 1
        finish(waiter, delivery.messages)
      } else empty.push(waiter)
    }
    // What was looked up for pops that have gone meanwhile.
    for (const { messages, index } of found.slice(next)) {
      const waiter = firstOf(fresh) ?? firstOf(parked)
      if (waiter) {
        fresh.delete(waiter)
        parked.delete(waiter)
        finish(waiter, messages)
      } else if (!wish.autoAck) ports.handBack(leaseIds[index] ?? '')
    }
    const lookAgain =
      outcome.again === 'backfill' ||
      (outcome.again === 'staged' && !waited) ||
      (found.length > 0 && empty.length > 0 && wasCut(outcome))
    if (outcome.again === 'staged') staged = true
    if (!held) heldSince = null
    else if (heldSince === null || found.length > 0) heldSince = performance.now()
    for (const waiter of empty) reseat(waiter, lookAgain, outcome.again === 'busy')
    if (outcome.again === 'busy') pause = FIRST_PAUSE_MS
    eager = found.length >= seats.length ? Math.min(SEATS, eager * 2) : Math.max(FIRST_EAGER, found.length + 1)
    if (found.length > 0) pause = FIRST_PAUSE_MS
    // A full house means that there may be more.
    if (lookAgain || found.length >= seats.length) rung = true
    else plan(outcome.dueInMs, held)
  }

  function reseat(waiter: Waiter, lookAgain: boolean, busy: boolean): void {
    if (closed || waiter.expired) finish(waiter, [])
    else if (lookAgain) fresh.add(waiter)
    else if (busy && waiter.waitMs === 0 && waiter.busyLooks < BUSY_LOOKS) postpone(waiter)
    else if (waiter.waitMs > 0 || heldSince !== null) {
      waiter.looked = waiter.waitMs > 0
      parked.add(waiter)
    } else finish(waiter, [])
  }

  function postpone(waiter: Waiter): void {
    waiter.busyLooks += 1
    postponed.add(waiter)
    postponing ??= setTimeout(() => {
      postponing = null
      for (const one of postponed) fresh.add(one)
      postponed.clear()
      schedule()
    }, BUSY_MS)
  }

  /** A pop that waits keeps waiting through a fault of the database; one that was never looked for is told. */
  function faulted(seats: readonly Waiter[], error: unknown): void {
    for (const waiter of seats) {
      if (waiter.gone) continue
      if (waiter.looked && !closed && !waiter.expired) parked.add(waiter)
      else {
        if (waiter.timer) clearTimeout(waiter.timer)
        waiter.fail(error)
      }
    }
    plan(null)
  }

  /** What is held is worth a look when the hold is over, or when something came. */
  function plan(dueInMs: number | null, held = false): void {
    if (parked.size === 0) return
    const longest = ports.pauseMs()
    if (held) pause = longest
    const delay = Math.min(pause, longest, dueInMs === null ? longest : Math.max(1, Math.ceil(dueInMs)))
    pause = Math.min(pause * 2, longest)
    if (timer) clearTimeout(timer)
    timer = setTimeout(() => {
      timer = null
      rung = true
      schedule()
    }, delay)
  }

  function proceed(): void {
    if (closed) return
    if (fresh.size > 0 || (rung && parked.size > 0)) schedule()
    forgetIfEmpty()
  }

  function forgetIfEmpty(): void {
    if (fresh.size + parked.size + postponed.size + seated > 0) return
    if (timer) clearTimeout(timer)
    if (postponing) clearTimeout(postponing)
    timer = postponing = null
    ports.emptied()
  }

  function close(): void {
    closed = true
    if (timer) clearTimeout(timer)
    if (postponing) clearTimeout(postponing)
    timer = postponing = null
    for (const waiter of [...fresh, ...postponed, ...parked]) finish(waiter, [])
    fresh.clear()
    postponed.clear()
    parked.clear()
  }

  return {
    wish,
    add,
    remove,
    ring,
    close,
    get size() {
      return fresh.size + parked.size + postponed.size + seated
    },
    get parked() {
      return parked.size
    },
  }
}

/** The bytes of the call may have run out before all its pops were served. A character is three bytes at most. */
function wasCut(outcome: PopOutcome): boolean {
  let characters = 0
  for (const messages of outcome.answers) for (const { payload } of messages) characters += payload.length
  return characters * 3 >= LIMITS.popCallBytes
}

function firstOf(waiters: ReadonlySet<Waiter>): Waiter | null {
  const [first] = waiters
  return first ?? null
}
