// The transaction in which a step completes: our own connection, or a library's callback turned inside out so that it opens at
// the first call and commits after our statement, the last one before it. Nobody but this file ends it.
import type { Door } from '../../db/executor.ts'
import { openTransaction } from '../../db/transaction.ts'
import type { Database } from '../../db/pool.ts'
import type { Command } from '../../db/round-trip.ts'
import { guardedClient } from '../../client/postgres/guarded-client.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Completion } from '../define/completion.ts'

export interface StepTransaction {
  readonly tx: unknown
  readonly door: Door
  /** Sends the last statement and commits; its text. Rejects when it was not committed, or when that is not known. */
  commit(last: Command): Promise<string | null>
  /** Undoes it. Nothing after a commit. */
  rollback(): Promise<void>
}

/** The user's statements may wait for locks as long as his own settings would let them: the lease is the bound. */
const HANDLER_TIMEOUTS = { lockTimeoutMs: 0, statementTimeoutMs: 0 }

export async function openPgStep(database: Database): Promise<StepTransaction> {
  const open = await openTransaction(database, HANDLER_TIMEOUTS)
  const guarded = guardedClient(open.client)
  return {
    tx: guarded.tx,
    door: { text: async (statement, params) => (await open.rows(statement, params))[0]?.[0] ?? null },
    async commit(last) {
      guarded.revoke()
      try {
        return (await open.commit(last))[0]?.[0] ?? null
      } catch (error) {
        await open.rollback()
        throw error
      }
    },
    async rollback() {
      guarded.revoke()
      await open.rollback()
    },
  }
}

type Ending = { readonly last: Command } | { readonly aborted: true }

class Undone extends Error {}

export function openLibraryStep(completion: Completion<unknown>): Promise<StepTransaction> {
  return new Promise((ready, failed) => {
    let end: (ending: Ending) => void = () => {}
    const ending = new Promise<Ending>((resolve) => {
      end = resolve
    })
    const finished = completion.transaction(async (tx) => {
      const door = completion.door(tx)
      ready({
        tx,
        door,
        async commit(last) {
          end({ last })
          return finished
        },
        async rollback() {
          end({ aborted: true })
          await finished.catch(() => {})
        },
      })
      const how = await ending
      if ('aborted' in how) throw new Undone(`the step in ${completion.library} was undone`)
      await completion.flush?.(tx)
      return door.text(how.last.text, (how.last.params ?? []).map(textParam))
    })
    finished.catch(failed)
  })
}

function textParam(param: unknown): string {
  if (typeof param === 'string') return param
  throw new LockstepError('internal', 'a completion through a library takes text parameters only')
}

export async function openStep(database: Database, completion: Completion<unknown> | null): Promise<StepTransaction> {
  return completion === null ? openPgStep(database) : openLibraryStep(completion)
}
