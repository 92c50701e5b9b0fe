// Interleavings for tests: named sessions that each run one statement at a time, and a way to know that one is really
// blocked on another's lock. Nothing here sleeps for luck: it waits for a condition of the server.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, QueryArrayResult } from 'pg'
import { sqlstateOf } from '../db/pg-errors.ts'
import type { TestDatabase } from './database.ts'

const WAIT_MS = 60_000

/** Waits until at least `count` sessions of the database wait for a heavyweight lock. */
export async function waitUntilBlocked({ database }: TestDatabase, count: number): Promise<void> {
  await waitFor(`${count} sessions to wait for a lock`, async () => {
    const [row] = await database.reader.rows(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    )
    return Number(row?.[0]) >= count
  })
}

/**
 * Asks again and again, a few milliseconds apart, until the answer is true; throws after a minute, also when an answer itself
 * never comes. The minute is for machines that are slow and busy: what holds is seen at once.
 */
export async function waitFor(
  what: string,
  holds: () => Promise<boolean> | boolean,
  waitMs: number = WAIT_MS,
): Promise<void> {
  const giveUpAt = performance.now() + waitMs
  const late = new AbortController()
  const deadline = sleep(waitMs, 'late', { signal: late.signal }).catch(() => 'late')
  try {
    for (;;) {
      const answer = await Promise.race([holds(), deadline])
      if (answer === true) return
      if (answer === 'late' || performance.now() > giveUpAt) throw new Error(`waited ${waitMs} ms for ${what}`)
      await sleep(3)
    }
  } finally {
    late.abort()
  }
}

export type Result = { readonly rows: readonly (readonly unknown[])[] } | { readonly error: string }

export interface Session {
  readonly name: string
  /** Sends a statement and gives back its end when it has one: 'done', or 'blocked' once the server says it waits. */
  start(statement: string, params?: readonly unknown[]): Promise<'done' | 'blocked'>
  /** The result of the last statement, awaited. An error is a result: its SQLSTATE. */
  result(): Promise<Result>
  /** start and result in one: for steps that must not block. */
  run(statement: string, params?: readonly unknown[]): Promise<Result>
}

/** Opens one session per name, each on a connection of its own. */
export async function openSessions<N extends string>(
  own: TestDatabase,
  names: readonly N[],
): Promise<Record<N, Session>> {
  const sessions = await Promise.all(
    names.map(async (name) => [name, sessionOver(own, name, await own.connect())] as const),
  )
  const table = Object.fromEntries(sessions)
  if (!hasAll(table, names)) throw new Error('a session is missing')
  return table
}

function hasAll<N extends string>(table: Record<string, Session>, names: readonly N[]): table is Record<N, Session> {
  return names.every((name) => Object.hasOwn(table, name))
}

function sessionOver(own: TestDatabase, name: string, client: Client): Session {
  let last: Promise<Result> = Promise.resolve({ rows: [] })
  let running = false

  function send(statement: string, params: readonly unknown[]): void {
    if (running) throw new Error(`${name} is still at its last statement`)
    running = true
    last = client
      .query({ text: statement, values: [...params], rowMode: 'array' })
      .then((result: QueryArrayResult | QueryArrayResult[]) => ({
        rows: Array.isArray(result) ? (result.at(-1)?.rows ?? []) : result.rows,
      }))
      .catch((error: unknown) => ({ error: sqlstateOf(error) ?? String(error) }))
      .finally(() => {
        running = false
      })
  }

  return {
    name,
    async start(statement, params = []) {
      send(statement, params)
      await waitFor(`${name} to finish or to block`, async () => !running || (await blocked(own, client)))
      return running ? 'blocked' : 'done'
    },
    result: () => last,
    async run(statement, params = []) {
      send(statement, params)
      return last
    },
  }
}

async function blocked({ database }: TestDatabase, client: Client): Promise<boolean> {
  const pid: unknown = Reflect.get(client, 'processID')
  const [row] = await database.reader.rows('select cardinality(pg_blocking_pids($1::int)) > 0', [String(pid)])
  return row?.[0] === 't'
}
