// What a queue with its groups is, in plain memory, written from the wire's text and not from the SQL: it says what each call
// must answer. No locks, no clock but "a lease has lapsed", nothing shared with what it judges.
import type { AckStatus } from '../../src/protocol/message.ts'

export const RETRY_LIMIT = 2
export const CRASH_LIMIT = 2

export interface Stored {
  readonly name: string | null
  readonly id: string
  readonly payload: string
}

export interface Lease {
  readonly id: string
  readonly group: string
  readonly partition: string
  readonly from: number
  readonly end: number
}

export interface Lane {
  cursor: number
  lease: Lease | null
  live: boolean
  failures: number
  crashes: number
  /** One message at a time below this. */
  narrow: number
  delivered: { from: number; times: number }
  /** Of a conflating group: the newest message delivered, and where the lane stood before those that it stands for. */
  newest: number
  base: number
  /** The ack that released a lease last, so that it may be said again. */
  said: { lease: string; digest: string } | null
}

export interface Said {
  readonly offset: number
  /** What the ack named it by. */
  readonly key: string
  readonly status: AckStatus
}

export interface Answer {
  success: boolean
  released: boolean
  dlq: boolean
  noop: boolean
  conflated: number | null
}

export class Model {
  readonly partitions = new Map<string, Stored[]>()
  readonly groups = new Map<string, Map<string, Lane>>()
  readonly letters: string[] = []
  /** The groups that were registered as conflating. */
  readonly conflating = new Set<string>()

  log(partition: string): Stored[] {
    const log = this.partitions.get(partition) ?? []
    this.partitions.set(partition, log)
    return log
  }

  lane(group: string, partition: string): Lane {
    const lanes = this.groups.get(group) ?? new Map<string, Lane>()
    this.groups.set(group, lanes)
    const lane = lanes.get(partition) ?? freshLane(0)
    lanes.set(partition, lane)
    return lane
  }

  /** Null: the name is free. */
  known(partition: string, name: string | null): Stored | null {
    return name === null ? null : (this.log(partition).find((one) => one.name === name) ?? null)
  }

  /** What the next delivery of a lane would begin with, once the lapse of its lease has been charged. */
  charge(group: string, partition: string): Lane {
    const lane = this.lane(group, partition)
    if (lane.lease === null || lane.live) return lane
    const wide = lane.lease.end - lane.cursor > 1
    lane.crashes++
    if (wide && lane.crashes >= Math.min(2, Math.max(CRASH_LIMIT, 1)))
      lane.narrow = Math.max(lane.narrow, lane.lease.end)
    if (lane.crashes > CRASH_LIMIT && !wide) {
      this.bury(group, partition, lane.cursor)
      lane.cursor++
      lane.crashes = 0
      lane.failures = 0
    }
    lane.crashes = Math.min(lane.crashes, CRASH_LIMIT)
    lane.lease = null
    return lane
  }

  deliverable(group: string, partition: string): number {
    const lane = this.lane(group, partition)
    if (lane.live) return 0
    const rest = this.log(partition).length - lane.cursor
    if (this.conflating.has(group)) return Math.min(rest, 1)
    return lane.narrow > lane.cursor ? Math.min(rest, 1) : rest
  }

  /** The delivery number that must have been told. */
  deliver(group: string, partition: string, count: number, leaseId: string | null): number {
    const lane = this.lane(group, partition)
    if (this.conflating.has(group) && count > 0) this.skip(lane, this.log(partition).length - 1)
    if (leaseId === null) {
      lane.cursor += count
      lane.failures = lane.crashes = lane.narrow = 0
      return 1
    }
    const times = lane.delivered.from === lane.cursor ? lane.delivered.times + 1 : 1
    lane.delivered = { from: lane.cursor, times }
    lane.lease = { id: leaseId, group, partition, from: lane.cursor, end: lane.cursor + count }
    lane.live = true
    return times
  }

  /** Where the next delivery of a lane begins: of a conflating group at the newest message there is. */
  next(group: string, partition: string): number {
    const { cursor } = this.lane(group, partition)
    return this.conflating.has(group) ? Math.max(cursor, this.log(partition).length - 1) : cursor
  }

  private skip(lane: Lane, newest: number): void {
    if (lane.cursor !== lane.newest) lane.base = lane.cursor
    if (newest > lane.cursor) lane.failures = lane.crashes = 0
    lane.newest = lane.cursor = newest
  }

  private stoodFor(lane: Lane | null, group: string, { offset, status }: Said): number | null {
    if (lane === null || !this.conflating.has(group) || status !== 'completed' || offset !== lane.newest) return null
    return lane.newest - lane.base
  }

  lapseAll(): void {
    for (const lanes of this.groups.values()) for (const lane of lanes.values()) lane.live = false
  }

  /** The lane, which every registered group has for every partition; null when the group is unknown. */
  private met({ group, partition }: Lease): Lane | null {
    return this.groups.has(group) ? this.lane(group, partition) : null
  }

  /** Live under this id, or null. */
  held(lease: Lease): Lane | null {
    const lane = this.groups.get(lease.group)?.get(lease.partition)
    return lane?.live === true && lane.lease?.id === lease.id ? lane : null
  }

  release(lease: Lease): number {
    const lane = this.held(lease)
    if (lane === null) return 0
    lane.lease = null
    lane.live = false
    lane.delivered = { from: lane.delivered.times > 1 ? lane.delivered.from : -1, times: lane.delivered.times - 1 }
    return 1
  }

  /** The verdict on each, without doing anything: 'do', 'noop' or 'refused'. */
  judge(lease: Lease, fenced: boolean, said: readonly Said[]): readonly ('do' | 'noop' | 'refused')[] {
    const lane = this.met(lease)
    return said.map(({ offset, status }) => {
      if (lane === null || (fenced && this.held(lease) === null)) return 'refused'
      if (offset >= this.log(lease.partition).length || (fenced && offset >= (lane.lease?.end ?? 0))) return 'refused'
      if (offset < lane.cursor) return status === 'completed' ? 'noop' : 'refused'
      return 'do'
    })
  }

  ack(lease: Lease, fenced: boolean, said: readonly Said[]): readonly Answer[] {
    const lane = this.met(lease)
    const verdicts = this.judge(lease, fenced, said)
    if (
      lane !== null &&
      fenced &&
      lane.said?.lease === lease.id &&
      lane.said.digest === digest(said) &&
      !this.held(lease)
    ) {
      return said.map((one) => ({
        success: true,
        released: true,
        dlq: this.letters.includes(letter(lease.group, lease.partition, one.offset)),
        noop: false,
        conflated: this.stoodFor(lane, lease.group, one),
      }))
    }
    const chosen = said.filter((_, at) => verdicts[at] === 'do')
    const stood = said.map((one) => this.stoodFor(lane, lease.group, one))
    const done = lane === null || chosen.length === 0 ? null : this.settle(lease, lane, chosen)
    if (lane !== null && done?.released === true && fenced) lane.said = { lease: lease.id, digest: digest(chosen) }
    return said.map(({ offset }, at) => ({
      success: verdicts[at] !== 'refused',
      released: verdicts[at] === 'do' && done?.released === true,
      dlq: verdicts[at] === 'do' && done?.buried.has(offset) === true,
      noop: verdicts[at] === 'noop',
      conflated: verdicts[at] === 'do' ? (stood[at] ?? null) : null,
    }))
  }

  private settle(lease: Lease, lane: Lane, said: readonly Said[]): { released: boolean; buried: Set<number> } {
    const { group, partition } = lease
    const buried = new Set<number>()
    const at = (offset: number, ...statuses: readonly AckStatus[]): boolean =>
      said.some((one) => one.offset === offset && statuses.includes(one.status))
    const bury = (offset: number): void => {
      buried.add(offset)
      this.bury(group, partition, offset)
    }
    const nacks = said.filter((one) => one.status !== 'completed').map((one) => one.offset)
    const top = Math.max(-1, ...said.filter((one) => one.status === 'completed').map((one) => one.offset))
    const before = lane.cursor
    lane.cursor = nacks.length > 0 ? Math.min(...nacks) : Math.max(before, top + 1)
    if (lane.cursor > before) lane.failures = lane.crashes = 0
    if (nacks.length > 0) {
      const head = lane.cursor
      const spent = lane.failures >= RETRY_LIMIT
      const forced = at(head, 'dlq')
      const exhausted = !forced && at(head, 'failed') && spent
      if (forced || exhausted) {
        bury(head)
        lane.cursor++
        let keeps = false
        for (;;) {
          const next = lane.cursor
          if (at(next, 'dlq') || (at(next, 'failed') && spent)) bury(next)
          else if (at(next, 'failed')) keeps = true
          if (at(next, 'dlq')) lane.cursor++
          else if (at(next, 'failed') && !spent) break
          else if (at(next, 'failed')) lane.cursor++
          else if (at(next, 'retry') || (!at(next, 'completed') && next > top)) break
          else lane.cursor++
        }
        if (!keeps) lane.failures = 0
        lane.crashes = 0
      } else if (at(head, 'failed')) lane.failures++
    }
    if (lane.narrow <= lane.cursor) lane.narrow = 0
    const released = nacks.length > 0 || lane.lease === null || lane.cursor >= lane.lease.end
    if (released) {
      lane.lease = null
      lane.live = false
    }
    return { released, buried }
  }

  private bury(group: string, partition: string, offset: number): void {
    this.letters.push(letter(group, partition, offset))
  }

  /** To the start, or past everything there is; the leases of that moment are void. */
  seek(group: string, to: 'start' | 'end'): void {
    const lanes = new Map<string, Lane>()
    for (const [partition, log] of this.partitions) lanes.set(partition, freshLane(to === 'end' ? log.length : 0))
    this.groups.set(group, lanes)
  }
}

function freshLane(cursor: number): Lane {
  return {
    cursor,
    lease: null,
    live: false,
    failures: 0,
    crashes: 0,
    narrow: 0,
    delivered: { from: -1, times: 0 },
    newest: -1,
    base: 0,
    said: null,
  }
}

export const letter = (group: string, partition: string, offset: number): string => `${group} ${partition} ${offset}`

const digest = (said: readonly Said[]): string => said.map(({ key, status }) => `${key}:${status}`).join()
