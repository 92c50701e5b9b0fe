// postgres.js. `in(postgresTx(sql))` joins the transaction of `sql.begin`; `postgresSteps(sql)` lets a step complete in one. A
// statement that fails there ends the transaction, also when its error is caught; inside a savepoint it does not.
import type { Sql, TransactionSql } from 'postgres'
import type { Completion, Door } from '../protocol/completion.ts'
import { LockstepError } from '../protocol/errors.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { firstText } from './first-text.ts'
import { outliveConnection } from './outlive-connection.ts'

type Types = Record<string, unknown>

const ISOLATION = 'isolation level read committed'

function door<T extends Types>(sql: TransactionSql<T>): Door {
  return {
    text: async (statement, params) => firstText(await sql.unsafe(statement, [...params])),
  }
}

function check(sql: unknown): void {
  if (typeof sql !== 'function' || typeof Reflect.get(sql, 'savepoint') !== 'function') {
    refuseTransaction(
      'postgresTx(sql) takes the sql of sql.begin(async (sql) => …), not the one that opens connections',
    )
  }
}

/** It does not tell when it has ended: use it only inside its callback. */
export function postgresTx<T extends Types>(sql: TransactionSql<T>): Joinable {
  return joinable({ library: 'postgres.js', door: door(sql), check: () => check(sql) })
}

/** The same sql, but a statement on a closed connection is refused: its writer would end the process. */
function guarded<T extends Types>(sql: TransactionSql<T>, isGone: () => boolean): TransactionSql<T> {
  const demandConnection = (): void => {
    if (isGone()) throw new LockstepError('unavailable', 'the connection of this transaction was closed')
  }
  return new Proxy(sql, {
    apply(target, self, given) {
      demandConnection()
      return Reflect.apply(target, self, given)
    },
    get(target, name) {
      demandConnection()
      return Reflect.get(target, name)
    },
  })
}

export function postgresSteps<T extends Types>(sql: Sql<T>): Completion<TransactionSql<T>> {
  return {
    library: 'postgres.js',
    transaction: async <R>(body: (tx: TransactionSql<T>) => Promise<R>) =>
      outliveConnection<TransactionSql<T>, R>(
        (work) => sql.begin(ISOLATION, work),
        async (tx, isGone) => body(guarded(tx, isGone)),
      ),
    door,
  }
}
