// postgres.js by itself.
import postgres, { type TransactionSql } from 'postgres'
import { postgresSteps, postgresTx } from 'lockstep/postgres-js'
import type { Subject } from '../subject.ts'

export async function postgresJsSubject(connectionString: string): Promise<Subject<TransactionSql>> {
  const sql = postgres(connectionString, { onnotice() {} })
  const reserved = await sql.reserve()
  reserved.release()
  return {
    completion: postgresSteps(sql),
    join: postgresTx,
    async transaction(body) {
      const { result } = await sql.begin(async (tx) => ({ result: await body(tx) }))
      return result
    },
    async nested(tx, body) {
      await tx.savepoint(body)
    },
    async run(tx, statement) {
      await tx.unsafe(statement)
    },
    async insert(tx, id, status) {
      await tx`insert into orders values (${id.toString()}, ${status})`
    },
    wrong: {
      // @ts-expect-error it is the one that opens connections
      'sql itself': () => postgresTx(sql),
      // @ts-expect-error a reserved connection has no transaction
      'a reserved connection': () => postgresTx(reserved),
    },
    afterEnd: 'runs',
    endsItself: true,
    close: async () => sql.end(),
  }
}
