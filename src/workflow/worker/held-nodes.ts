// The claims that this process holds: kept alive by a heartbeat while they are worked on, told when the database says that one
// no longer holds. A lease that cannot be renewed is let go; the lease law decides, never this process.
import type { ClaimedNode, NodeLease } from '../../protocol/run.ts'

/** lost: the lease is somebody else's or nobody's. abandoned: this worker's patience at its stop is over. */
export type Gone = 'lost' | 'abandoned'

type Listener = (why: Gone) => void

export interface Held {
  readonly node: ClaimedNode
  /** By this process's clock: only to know when trying is pointless. */
  readonly leaseUntil: number
  /** Why nothing of it may be completed any more. */
  readonly gone: Gone | null
  /** Of `onGone`. */
  listeners: Listener[] | null
}

export interface HeldNodes {
  hold(nodes: readonly ClaimedNode[], since: number): readonly Held[]
  drop(held: Held): void
  /** The lease was renewed at this time of this process's clock. */
  renewed(node: NodeLease, at: number): void
  leave(node: NodeLease, why: Gone): void
  all(): readonly Held[]
  readonly size: number
}

interface Entry extends Held {
  leaseUntil: number
  gone: Gone | null
}

/** Called once, at once when it is gone already. */
export function onGone(held: Held, listener: Listener): void {
  if (held.gone !== null) listener(held.gone)
  else (held.listeners ??= []).push(listener)
}

export function forget(held: Held, listener: Listener): void {
  const { listeners } = held
  if (listeners === null) return
  if (listeners.length === 1 && listeners[0] === listener) held.listeners = null
  else held.listeners = listeners.filter((one) => one !== listener)
}

const keyOf = (node: NodeLease): string => `${node.runId}/${node.ordinal}/${node.leaseId}`

export function createHeldNodes(leaseMs: number): HeldNodes {
  const entries = new Set<Entry>()
  const known: Set<Held> = entries
  // Made when a heartbeat answers: most claims end before their first.
  let byKey: Map<string, Entry> | null = null

  function find(node: NodeLease): Entry | null {
    byKey ??= new Map([...entries].map((entry) => [keyOf(entry.node), entry]))
    const entry = byKey.get(keyOf(node))
    return entry !== undefined && entries.has(entry) ? entry : null
  }

  return {
    hold(given, since) {
      byKey = null
      return given.map((node) => {
        const entry: Entry = { node, leaseUntil: since + leaseMs, gone: null, listeners: null }
        entries.add(entry)
        return entry
      })
    },
    drop(held) {
      known.delete(held)
    },
    renewed(node, at) {
      const entry = find(node)
      if (entry !== null) entry.leaseUntil = Math.max(entry.leaseUntil, at + leaseMs)
    },
    leave(node, why) {
      const entry = find(node)
      if (entry === null || entry.gone !== null) return
      entry.gone = why
      const listeners = entry.listeners ?? []
      entry.listeners = null
      for (const listener of listeners) listener(why)
    },
    all: () => [...entries],
    get size() {
      return entries.size
    },
  }
}
