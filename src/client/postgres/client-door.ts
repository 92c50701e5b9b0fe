// A `pg` client inside the caller's BEGIN, as the door for our statements: text in, one text out, nothing prepared by name.
// It never begins or ends anything.
import type { Door } from '../../db/executor.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { isObject } from '../foreign-transaction.ts'

function firstText(result: unknown): string | null {
  const rows: unknown = isObject(result) ? Reflect.get(result, 'rows') : null
  const row: unknown = Array.isArray(rows) ? rows[0] : null
  const value: unknown = Array.isArray(row) ? row[0] : isObject(row) ? Reflect.get(row, 'r') : null
  if (typeof value === 'string' || value === null) return value
  throw new LockstepError('internal', 'the transaction answered something else than text')
}

export function clientDoor(client: object): Door {
  return {
    async text(statement, params) {
      const query: unknown = Reflect.get(client, 'query')
      if (typeof query !== 'function')
        throw new LockstepError('not_a_transaction', 'in(tx) takes a pg client after BEGIN')
      const answer: unknown = Reflect.apply(query, client, [{ text: statement, values: [...params], rowMode: 'array' }])
      return firstText(await answer)
    },
  }
}
