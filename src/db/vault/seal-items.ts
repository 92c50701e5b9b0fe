// What goes to PostgreSQL: items sealed where their queue is encrypted, and sent once more when this process was wrong about that.
// A refusal undoes the statement that it met; in an open transaction it undoes all, so there the caller must begin again.
import { LockstepError } from '../../protocol/errors.ts'
import type { AskEncrypted, Sealable, Vault } from '../../protocol/vault.ts'
import { arrayLiteral } from '../array-literal.ts'
import type { Door, Executor } from '../executor.ts'

const ASK = 'select lockstep.encrypted_queues($1::text[], $2::text[], $3::text[])'
const ASK_THROUGH_DOOR = 'select lockstep.encrypted_queues($1::text::text[])::text as r'

function namesOf(text: string | null | undefined): readonly string[] {
  // Written by our own SQL function: an array of names.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text ?? '[]') as readonly string[]
}

const askOver =
  (db: Executor): AskEncrypted =>
  async (queues, keys, marks) =>
    namesOf((await db.rows(ASK, [queues, keys, marks]))[0]?.[0])

/** In somebody's transaction nothing is made known: that would write a shared row. */
const askThrough =
  (door: Door): AskEncrypted =>
  async (queues) =>
    namesOf(await door.text(ASK_THROUGH_DOOR, [arrayLiteral(queues)]))

/** Makes the keys of this process known; refused when one of them is another than that of its name. */
export async function showKeys(db: Executor): Promise<void> {
  const { vault } = db
  if (vault !== undefined) await vault.sealAll([NOTHING], askOver(db))
}

const NOTHING: Sealable = { queue: '', partition: '', messageId: '', transactionId: null, payload: '' }

/** Runs the statement with the items sealed where need be. */
export async function withSealed<T extends Sealable, R>(
  db: Executor,
  items: readonly T[],
  run: (sealed: readonly T[]) => Promise<R>,
): Promise<R> {
  const { vault } = db
  if (vault === undefined || items.length === 0) return run(items)
  try {
    return await run(await vault.sealAll(items, askOver(db)))
  } catch (error) {
    if (!wasWrong(error, vault, items)) throw error
    if (!('reader' in db)) throw again(error)
    return run(await vault.sealAll(items, askOver(db)))
  }
}

export async function withSealedThrough<T extends Sealable, R>(
  door: Door,
  items: readonly T[],
  run: (sealed: readonly T[]) => Promise<R>,
): Promise<R> {
  const { vault } = door
  if (vault === undefined || items.length === 0) return run(items)
  try {
    return await run(await vault.sealAll(items, askThrough(door)))
  } catch (error) {
    throw wasWrong(error, vault, items) ? again(error) : error
  }
}

function wasWrong(error: unknown, vault: Vault, items: readonly Sealable[]): boolean {
  if (!(error instanceof LockstepError) || error.code !== 'encryption_required') return false
  vault.forget(items.map((item) => item.queue))
  return true
}

const again = (error: unknown): LockstepError =>
  new LockstepError('unavailable', 'the queue was made encrypted meanwhile: begin the transaction again', {}, error)
