// The transaction in which a step completes: on a connection of our own, or a library's. Our statement is the last one before its
// COMMIT. Nobody but this file ends it.
import type { Door } from '../../db/executor.ts'
import { lazily } from '../../db/lazily.ts'
import { beginLazily } from '../../db/transaction.ts'
import type { Database } from '../../db/pool.ts'
import type { Command } from '../../db/round-trip.ts'
import { guardedClient } from '../../client/postgres/guarded-client.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Completion } from '../../protocol/completion.ts'

export interface StepTransaction {
  readonly tx: unknown
  readonly door: Door
  /** Sends the last statement and commits; its text. Rejects when it was not committed, or when that is not known. */
  commit(last: Command): Promise<string | null>
  /** Undoes it. Nothing after a commit. */
  rollback(): Promise<void>
}

/** The user's statements may wait for locks as long as his own settings would let them: the lease is the bound. */
const HANDLER_TIMEOUTS = null

export async function openPgStep(database: Database): Promise<StepTransaction> {
  const open = await beginLazily(database, HANDLER_TIMEOUTS)
  const guarded = guardedClient(open)
  return {
    tx: guarded.tx,
    door: {
      vault: database.vault,
      text: async (statement, params) => (await open.rows(statement, params))[0]?.[0] ?? null,
    },
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

function textParam(param: unknown): string {
  if (typeof param === 'string') return param
  throw new LockstepError('internal', 'a completion through a library takes text parameters only')
}

async function openLibraryStep(
  database: Database,
  completion: Completion<unknown>,
  timeoutMs: number,
): Promise<StepTransaction> {
  const lazy = lazily(completion, { timeoutMs })
  const { tx, door } = await lazy.open()
  return {
    tx,
    door: { ...door, vault: database.vault },
    commit: async (last) => lazy.commit(async (at) => at.text(last.text, (last.params ?? []).map(textParam))),
    rollback: async () => lazy.abort(),
  }
}

export async function openStep(
  database: Database,
  completion: Completion<unknown> | null,
  timeoutMs: number,
): Promise<StepTransaction> {
  return completion === null ? openPgStep(database) : openLibraryStep(database, completion, timeoutMs)
}
