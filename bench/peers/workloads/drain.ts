// Draining a queue that was filled before. Handlers are counted in the window; afterwards the worker is stopped and the
// database asked: everything handled must be finished there, and of a write there must be one receipt each. Graphs are drained
// to the end instead, because some systems do all first steps before any second one.
import type { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { orders } from '../orders.ts'
import type { Kind, Peer, System } from '../peer.ts'
import type { Measure } from '../workload.ts'

const FILLED_AT_ONCE = 20_000
const LONGEST_START_MS = 20_000
const LONGEST_GRAPHS_MS = 40_000
const SETTLING_MS = 3_000

interface Seen {
  all: number
  counted: number
  firstAt: number
  lastAt: number
}

async function fill(peer: Peer, system: System, kind: Kind, seconds: number): Promise<number> {
  const count = peer.fillPerSecond[kind] * seconds
  for (let left = count; left > 0; left -= FILLED_AT_ONCE) {
    await system.enqueueMany(kind, orders(Math.min(left, FILLED_AT_ONCE)))
  }
  return count
}

async function countOf(client: Client, statement: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(statement)
  return Number(rows[0]?.count)
}

/** What the database says against what the handlers saw; the last completions may still be on their way. */
async function check(client: Client, peer: Peer, kind: Kind, filled: number, seen: Seen): Promise<readonly string[]> {
  let finished = Number.NaN
  for (let waited = 0; waited <= SETTLING_MS; waited += 100) {
    finished = filled - (await countOf(client, peer.unfinished))
    if (finished === seen.all) break
    await sleep(100)
  }
  const errors = finished === seen.all ? [] : [`${seen.all} handled, ${finished} finished in the database`]
  if (kind !== 'write') return errors
  const receipts = await countOf(client, 'select count(*) from receipt')
  return receipts === finished ? errors : [...errors, `${finished} finished, ${receipts} receipts`]
}

export function drain(kind: Kind, concurrency: number): Measure {
  return async (peer, job, client) => {
    const system = await peer.open(job)
    const whole = kind === 'graph'
    const warmupMs = whole ? 0 : job.warmupSeconds * 1000
    const windowMs = whole ? LONGEST_GRAPHS_MS : job.seconds * 1000
    try {
      const filled = await fill(peer, system, kind, whole ? job.seconds : job.seconds + job.warmupSeconds)
      // All begin with fresh statistics and without the checkpoint that the filling owes.
      await client.query('vacuum (analyze)')
      await client.query('checkpoint')
      const begun = performance.now()
      const seen: Seen = { all: 0, counted: 0, firstAt: whole ? begun : 0, lastAt: 0 }
      const stop = await system.work(kind, concurrency, () => {
        const now = performance.now()
        if (seen.firstAt === 0) seen.firstAt = now
        seen.all += 1
        const since = now - seen.firstAt - warmupMs
        if (since < 0 || since > windowMs) return
        seen.counted += 1
        seen.lastAt = now
      })
      while (seen.firstAt === 0 && performance.now() - begun < LONGEST_START_MS) await sleep(10)
      const from = seen.firstAt + warmupMs
      while (seen.all < filled && performance.now() < from + windowMs) await sleep(20)
      await stop()
      const errors = await check(client, peer, kind, filled, seen)
      const took = seen.all < filled ? windowMs : seen.lastAt - from
      return { rate: (seen.counted * 1000) / took, p50: Number.NaN, p99: Number.NaN, errors }
    } finally {
      await system.close()
    }
  }
}
