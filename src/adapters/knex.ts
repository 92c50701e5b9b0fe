// Knex on PostgreSQL. `in(knexTx(trx))` joins its open transaction; `knexSteps(knex)` lets a step complete in one. It answers
// success to a COMMIT that became a rollback, so what it says of a commit is never read.
import type { Knex } from 'knex'
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { textOfResult } from './first-text.ts'
import { questionMarks } from './placeholders.ts'

function door(trx: Knex.Transaction): Door {
  return {
    async text(statement, params) {
      const { text, values } = questionMarks(statement, params)
      const query = trx.raw(text, values)
      try {
        return textOfResult(await query)
      } catch (error) {
        throw withoutStatement(error, query)
      }
    },
  }
}

/** Knex puts the statement with its values before the server's message; they are the user's payloads and belong in no log. */
function withoutStatement(error: unknown, query: Knex.Raw): unknown {
  if (!(error instanceof Error)) return error
  for (const statement of [query.toQuery(), query.toSQL().toNative().sql]) {
    if (error.message.startsWith(`${statement} - `)) error.message = error.message.slice(statement.length + 3)
  }
  return error
}

function check(trx: unknown): void {
  if (typeof trx !== 'function' || Reflect.get(trx, 'isTransaction') !== true) {
    refuseTransaction('knexTx(trx) takes the trx of knex.transaction(…), not knex itself')
  }
  const isCompleted: unknown = Reflect.get(trx, 'isCompleted')
  if (typeof isCompleted === 'function' && Reflect.apply(isCompleted, trx, []) === true) {
    refuseTransaction('knexTx(trx) was given a transaction that has ended')
  }
}

export function knexTx(trx: Knex.Transaction): Joinable {
  return joinable({ library: 'knex', door: door(trx), check: () => check(trx) })
}

export function knexSteps(knex: Knex): Completion<Knex.Transaction> {
  return {
    library: 'knex',
    transaction: async (body) =>
      knex.transaction(
        async (trx) => {
          // Knex runs the callback even when its BEGIN has failed.
          if (trx.isCompleted()) refuseTransaction('the transaction could not be opened')
          return body(trx)
        },
        { isolationLevel: 'read committed' },
      ),
    door,
  }
}
