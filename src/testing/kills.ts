// Kills of single attempts: at the commit that would complete one, the server process behind that very transaction is ended
// from another connection and the worker forgets the attempt, as when its process dies there. Its lease is left to lapse.
import type { Executor } from '../db/executor.ts'
import type { BeforeCommit } from '../workflow/define/worker.ts'
import { Crash } from '../workflow/worker/crash.ts'

export interface Kills {
  /** Resolves when it has happened. */
  readonly arm: (name: string) => Promise<void>
  readonly isArmed: (name: string, node: string) => boolean
  readonly beforeCommit: (at: BeforeCommit) => Promise<void>
}

/** The second argument lets the statement wait until the process is gone, so that its transaction is rolled back for sure. */
const END_BACKEND = 'select pg_terminate_backend($1::int, 10000)::text'

/** `other`: connections that are not the victim's. */
export function createKills(other: Executor): Kills {
  const armed = new Map<string, (() => void)[]>()

  function disarm(name: string): (() => void) | null {
    const waiting = armed.get(name)
    const [happened, ...rest] = waiting ?? []
    if (happened === undefined) return null
    if (rest.length === 0) armed.delete(name)
    else armed.set(name, rest)
    return happened
  }

  return {
    arm: async (name) =>
      new Promise<void>((happened) => {
        armed.set(name, [...(armed.get(name) ?? []), happened])
      }),
    isArmed: (name, node) => armed.has(name) || armed.has(node),
    async beforeCommit({ action, node, door }) {
      const happened = disarm(action) ?? disarm(node)
      if (happened === null) return
      const pid = await door.text('select pg_backend_pid()::text as r', [])
      const [row] = await other.rows(END_BACKEND, [pid])
      if (row?.[0] !== 'true') throw new Error(`the server process ${pid ?? ''} of '${action}' did not end`)
      happened()
      throw new Crash(`killed before the commit of '${action}'`)
    },
  }
}
