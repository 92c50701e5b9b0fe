// One ephemeral queue in memory: rings by partition, groups with a cursor per ring, and the bounds. A message leaves when all
// groups are past it, when it is too old, or when the bounds drop the oldest. An id says which life of which queue gave it.
import type {
  EphemeralAck,
  EphemeralAckResult,
  EphemeralDepth,
  EphemeralMessage,
  EphemeralOptions,
} from '../../protocol/ephemeral.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { createCursor } from './cursor.ts'
import type { Cursor } from './cursor.ts'
import { bytesOf, createRing } from './ring.ts'
import type { Ring } from './ring.ts'

interface Group {
  readonly cursors: Map<Ring, Cursor>
  usedAt: number
}

export interface EphemeralQueue {
  options: EphemeralOptions
  declared: boolean
  /** All or nothing; gives the bytes it grew by. */
  push(partition: string, payloads: readonly string[], now: number, room: number): number
  take(
    group: string,
    partition: string | null,
    batch: number,
    now: number,
    commit: boolean,
  ): readonly EphemeralMessage[]
  /** How many could be taken now, and since when the oldest of them has waited. */
  ready(group: string, partition: string | null, now: number): { readonly count: number; readonly since: number }
  /** When a lease of the group lapses; Infinity without one. */
  nextLapse(group: string): number
  settle(group: string, acks: readonly EphemeralAck[], now: number): readonly EphemeralAckResult[]
  /** Drops what is too old or needed by nobody; gives the bytes that became free. */
  sweep(now: number): number
  /** Drops everything and ends every lease; gives the messages dropped. */
  reset(): number
  depth(name: string, now: number): EphemeralDepth
  readonly bytes: number
  readonly messages: number
}

export function createEphemeralQueue(life: string, options: EphemeralOptions, declared: boolean): EphemeralQueue {
  let generation = 0
  let rings: Ring[] = []
  let byPartition = new Map<string, number>()
  let groups = new Map<string, Group>()
  let turn = 0
  let lost = 0

  const total = (of: (ring: Ring) => number): number => rings.reduce((sum, ring) => sum + of(ring), 0)
  // Kept up with, for a push looks at them, however many partitions there are.
  let messages = 0
  let bytes = 0

  function drop(ring: Ring, before: number): number {
    const { first } = ring
    const freed = ring.dropBefore(before)
    messages -= ring.first - first
    bytes -= freed
    return freed
  }

  function ringOf(partition: string): Ring {
    const found = rings[byPartition.get(partition) ?? -1]
    if (found) return found
    if (rings.length >= LIMITS.ephemeralPartitions) {
      throw full(`an ephemeral queue has at most ${LIMITS.ephemeralPartitions} partitions`)
    }
    const ring = createRing(partition)
    byPartition.set(partition, rings.length)
    rings.push(ring)
    return ring
  }

  function groupOf(name: string, now: number): Group {
    const found = groups.get(name)
    if (found) {
      found.usedAt = now
      return found
    }
    if (groups.size >= LIMITS.ephemeralGroups) {
      throw full(`an ephemeral queue has at most ${LIMITS.ephemeralGroups} groups`)
    }
    const group: Group = { cursors: new Map(), usedAt: now }
    groups.set(name, group)
    return group
  }

  function cursorOf(group: Group, ring: Ring): Cursor {
    let cursor = group.cursors.get(ring)
    if (!cursor) group.cursors.set(ring, (cursor = createCursor(ring, () => queue.options.retryLimit)))
    return cursor
  }

  const asked = (partition: string | null): readonly Ring[] =>
    partition === null ? rings : rings.filter((ring) => ring.partition === partition)

  /** Gives the bytes that became free. */
  function trim(ring: Ring): number {
    if (groups.size === 0) return 0
    let floor = ring.next
    for (const group of groups.values()) floor = Math.min(floor, group.cursors.get(ring)?.floor() ?? ring.first)
    return drop(ring, floor)
  }

  function dropTo(ring: Ring, seq: number): number {
    lost += Math.max(0, seq - ring.first)
    return drop(ring, seq)
  }

  /** The ring whose first message is the oldest of all. */
  function oldest(): Ring | undefined {
    return rings
      .filter((ring) => ring.first < ring.next)
      .toSorted((a, b) => (a.at(a.first)?.at ?? 0) - (b.at(b.first)?.at ?? 0))[0]
  }

  function makeRoom(count: number, size: number, room: number): void {
    const { maxBytes, maxLength, policy } = queue.options
    const over = (): boolean => bytes + size > maxBytes || messages + count > maxLength
    const impossible = size > maxBytes || count > maxLength
    if (impossible || (policy === 'reject' && over())) {
      throw full(`it holds ${messages} messages of ${maxLength} and ${bytes} bytes of ${maxBytes}`)
    }
    let freed = 0
    while (over()) {
      const ring = oldest()
      if (!ring) break
      freed += dropTo(ring, ring.first + 1)
    }
    if (size - freed > room) {
      throw new LockstepError(
        'ephemeral_full',
        `the ephemeral queues of this broker hold ${LIMITS.ephemeralBytes} bytes together`,
      )
    }
  }

  const queue: EphemeralQueue = {
    options,
    declared,
    push(partition, payloads, now, room) {
      const sizes = payloads.map(bytesOf)
      const before = bytes
      const size = sizes.reduce((a, b) => a + b, 0)
      makeRoom(payloads.length, size, room)
      const ring = ringOf(partition)
      payloads.forEach((payload, at) => ring.append(payload, sizes[at] ?? 0, now))
      messages += payloads.length
      bytes += size
      return bytes - before
    },
    take(name, partition, batch, now, commit) {
      const group = groupOf(name, now)
      const found: EphemeralMessage[] = []
      const from = asked(partition)
      turn += 1
      for (let at = 0; at < from.length && found.length < batch; at++) {
        // Another ring goes first each time, so that none starves behind a busy one.
        const ring = from[(turn + at) % from.length]
        if (!ring) continue
        const place = byPartition.get(ring.partition) ?? 0
        const taken = cursorOf(group, ring).take(batch - found.length, now, queue.options.leaseSeconds * 1_000, commit)
        for (const { seq, attempts, token, payload } of taken) {
          const id = [life, generation, place, seq, token].join('.')
          found.push({ id, partition: ring.partition, payload, attempts })
        }
        if (commit && taken.length > 0) trim(ring)
      }
      return found
    },
    ready(name, partition, now) {
      const group = groups.get(name)
      let count = 0
      let since = Infinity
      for (const ring of asked(partition)) {
        const cursor = group?.cursors.get(ring)
        const here = cursor ? cursor.ready(now) : ring.next - ring.first
        if (here > 0) since = Math.min(since, ring.at(cursor?.floor() ?? ring.first)?.at ?? now)
        count += here
      }
      return { count, since }
    },
    nextLapse(name) {
      let next = Infinity
      for (const cursor of groups.get(name)?.cursors.values() ?? []) next = Math.min(next, cursor.nextLapse())
      return next
    },
    settle(name, acks, now) {
      const group = groups.get(name)
      if (group) group.usedAt = now
      const touched = new Set<Ring>()
      const results = acks.map(({ id, status }): EphemeralAckResult => {
        const given = readId(id)
        if (given === null) return { id, outcome: 'unknown' }
        if (given.life !== life || given.generation !== generation) return { id, outcome: 'stale' }
        const ring = rings[given.place]
        if (!ring || given.seq >= ring.next) return { id, outcome: 'unknown' }
        const cursor = group?.cursors.get(ring)
        if (!cursor) return { id, outcome: 'unknown' }
        touched.add(ring)
        const outcome = cursor.settle(given.seq, given.token, HOW[status])
        if (outcome === null) return { id, outcome: 'stale' }
        return outcome === 'dropped' ? { id, outcome: 'acked', dropped: true } : { id, outcome }
      })
      for (const ring of touched) trim(ring)
      return results
    },
    sweep(now) {
      let freed = 0
      for (const [name, group] of groups) {
        // One that is up to date holds nothing back, and forgotten it would see again what others still need.
        const behind = rings.some((ring) => (group.cursors.get(ring)?.floor() ?? ring.first) < ring.next)
        if (behind && now - group.usedAt > LIMITS.ephemeralGroupIdleMs) groups.delete(name)
      }
      const ageMs = queue.options.ttlSeconds * 1_000
      for (const ring of rings) {
        let seq = ring.first
        const old = (at: number): boolean => ageMs > 0 && now - (ring.at(at)?.at ?? now) >= ageMs
        while (seq < ring.next && old(seq)) seq += 1
        freed += dropTo(ring, seq) + trim(ring)
      }
      return freed
    },
    reset() {
      const dropped = messages
      lost += dropped
      generation += 1
      rings = []
      messages = 0
      bytes = 0
      byPartition = new Map()
      groups = new Map()
      return dropped
    },
    depth(name, now) {
      const listed = [...groups].map(([group, { cursors }]) => ({
        group,
        pending: total((ring) => cursors.get(ring)?.ready(now) ?? ring.next - ring.first),
        leased: [...cursors.values()].reduce((sum, cursor) => sum + cursor.leased, 0),
      }))
      const givenUp = [...groups.values()].flatMap((group) => [...group.cursors.values()])
      return {
        queue: name,
        declared: queue.declared,
        messages,
        bytes,
        partitions: rings.length,
        dropped: lost + givenUp.reduce((sum, cursor) => sum + cursor.dropped, 0),
        groups: listed,
        options: queue.options,
      }
    },
    get bytes() {
      return bytes
    },
    get messages() {
      return messages
    },
  }
  return queue
}

const HOW = { completed: 'done', failed: 'again', retry: 'again', undelivered: 'back' } as const

const full = (why: string): LockstepError => new LockstepError('queue_full', `the ephemeral queue is full: ${why}`)

function readId(id: string): { life: string; generation: number; place: number; seq: number; token: number } | null {
  const match = /^([0-9a-f]{16})\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(id)
  if (!match) return null
  const [generation = 0, place = 0, seq = 0, token = 0] = match.slice(2).map(Number)
  return { life: match[1] ?? '', generation, place, seq, token }
}
