// Waits for the only instants at which a test may look: when each session has either ended its step or is held by another's
// lock. It asks PostgreSQL; it never sleeps for luck.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from './actor.ts'

const GIVE_UP_MS = 20_000

/** The actors that are blocked then; all others are idle. */
export async function quiet(own: TestDatabase, actors: readonly Actor[]): Promise<readonly Actor[]> {
  const giveUpAt = Date.now() + GIVE_UP_MS
  for (;;) {
    const busy = actors.filter((actor) => !actor.idle)
    if (busy.length === 0) return []
    const rows = await own.database.pool.query<{ pid: number }>(
      'select p as pid from unnest($1::int[]) p where cardinality(pg_blocking_pids(p)) > 0',
      [busy.map((actor) => actor.pid)],
    )
    const held = new Set(rows.rows.map((row) => row.pid))
    if (busy.every((actor) => !actor.idle && held.has(actor.pid))) return busy
    if (Date.now() > giveUpAt) throw new Error(`neither done nor blocked: ${busy.map(({ name }) => name).join(', ')}`)
    await sleep(0)
  }
}

/** Waits until the condition holds. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_MS
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`waited in vain: ${what}`)
    await sleep(2)
  }
}
