// One bounded step of a key rotation: what one table holds that is not sealed with the current key is sealed with it, and plain
// payloads of encrypted queues too. A row that changed meanwhile is left alone; a payload that does not open is counted and left.
import { createHash } from 'node:crypto'
import type { Executor, Row } from '../db/executor.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { Vault } from '../protocol/vault.ts'

const NEXT = 'select * from lockstep.next_reseal($1, $2, $3, $4::int)'
const RESEAL = 'select lockstep.reseal($1, $2::text[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[])'
const ROWS_PER_STEP = 500

export const SEALED_TABLES = ['message', 'staged', 'dead_letter', 'timer'] as const
export type SealedTable = (typeof SEALED_TABLES)[number]

export interface ResealStep {
  readonly resealed: number
  /** Why payloads were left as they are, by message id. */
  readonly unopened: ReadonlyMap<string, string>
  /** Where the next step begins, as PostgreSQL wrote it; null at the end. */
  readonly next: string | null
}

export async function reseal(db: Executor, table: SealedTable, after: string | null): Promise<ResealStep> {
  const { vault } = db
  if (vault === undefined) {
    throw new LockstepError('encryption_required', 'a rotation needs the keys: set LOCKSTEP_ENCRYPTION_KEYS')
  }
  const rows = await db.rows(NEXT, [table, vault.keys[0] ?? '', after, String(ROWS_PER_STEP)])
  const next = rows.at(-1)?.[0] ?? null
  const changes: (readonly string[])[] = []
  const unopened = new Map<string, string>()
  for (const row of rows.slice(0, -1)) {
    const [place, , , messageId = null, , old = null] = row
    const sealed = sealedAnew(vault, row)
    if (sealed instanceof LockstepError) unopened.set(messageId ?? '', sealed.message)
    else
      changes.push([
        place ?? '',
        messageId ?? '',
        createHash('md5')
          .update(old ?? '')
          .digest('hex'),
        sealed,
      ])
  }
  if (changes.length === 0) return { resealed: 0, unopened, next }
  const places = changes.map(([place]) => columnsOf(place ?? ''))
  const [row] = await db.rows(RESEAL, [
    table,
    places.map((columns) => columns[0] ?? null),
    places.map((columns) => columns[1] ?? null),
    places.map((columns) => columns[2] ?? null),
    changes.map((change) => change[1] ?? null),
    changes.map((change) => change[2] ?? null),
    changes.map((change) => change[3] ?? null),
  ])
  return { resealed: Number(row?.[0]), unopened, next }
}

function columnsOf(place: string): readonly string[] {
  // The text is written by our own SQL function: the columns of a key as an array of texts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(place) as readonly string[]
}

function sealedAnew(vault: Vault, row: Row): string | LockstepError {
  const [, queue, partition, messageId, transactionId, payload] = row
  const place = { queue: queue ?? '', partition: partition ?? '', messageId: messageId ?? '' }
  try {
    const plain = vault.open(place, payload ?? '')
    return vault.seal({ ...place, transactionId: transactionId ?? null, payload: plain })
  } catch (error) {
    if (error instanceof LockstepError) return error
    throw error
  }
}
