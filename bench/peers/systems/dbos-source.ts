// A data source over pg for DBOS 5.3, by the interface that its package documents for one: the published ones (Drizzle 4.27,
// Knex 4.5, Postgres 4.24, Prisma 5.1) call functions that 5.3 no longer has. The step's record is in the write's transaction.
import { AsyncLocalStorage } from 'node:async_hooks'
import { Pool, type PoolClient } from 'pg'

interface Handler {
  readonly name: string
  initialize(): Promise<void>
  destroy(): Promise<void>
  deleteCheckpoints(workflow: string, from: number, beforeCommit?: () => Promise<void>): Promise<void>
  invokeTransactionFunction<T>(config: unknown, target: unknown, work: () => Promise<T>): Promise<T>
}

/** Of `@dbos-inc/dbos-sdk/datasource`. */
export interface SourceTools {
  readonly registerDataSource: (handler: Handler) => void
  readonly runTransaction: <T>(work: () => Promise<T>, name: string, options: { dsName: string }) => Promise<T>
  readonly initializeDataSourceSchemaPG: (run: (text: string) => Promise<unknown[]>) => Promise<void>
  readonly assertStillOwnsWorkflow: (workflow: string) => Promise<void>
  readonly replayRecordedStep: (recorded: object) => never
}

export interface Source {
  /** In the transaction of a step of the running workflow; `client` is open in it. */
  run(work: (client: PoolClient) => Promise<void>): Promise<void>
  close(): Promise<void>
}

const NAME = 'business'

export function dbosSource(
  tools: SourceTools,
  connectionString: string,
  at: () => { readonly workflow: string; readonly step: number },
): Source {
  const pool = new Pool({ connectionString, max: 24 })
  const current = new AsyncLocalStorage<PoolClient>()

  async function inTransaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  tools.registerDataSource({
    name: NAME,
    initialize: async () =>
      inTransaction(async (client) =>
        tools.initializeDataSourceSchemaPG(async (text) => (await client.query<never>(text)).rows),
      ),
    destroy: async () => {},
    async deleteCheckpoints(workflow, from, beforeCommit) {
      const text = 'delete from dbos.transaction_completion where workflow_id = $1 and function_num >= $2'
      if (beforeCommit === undefined) await pool.query(text, [workflow, from])
      else {
        await inTransaction(async (client) => {
          await client.query(text, [workflow, from])
          await beforeCommit()
        })
      }
    },
    async invokeTransactionFunction(_config, _target, work) {
      const { workflow, step } = at()
      const recorded = await pool.query<{ output: string | null; error: string | null }>(
        'select output, error from dbos.transaction_completion where workflow_id = $1 and function_num = $2',
        [workflow, step],
      )
      if (recorded.rows[0] !== undefined) return tools.replayRecordedStep(recorded.rows[0])
      return inTransaction(async (client) => {
        const result = await current.run(client, work)
        await client.query(
          'insert into dbos.transaction_completion (workflow_id, function_num, output) values ($1, $2, $3)',
          [workflow, step, JSON.stringify({ json: result ?? null })],
        )
        await tools.assertStillOwnsWorkflow(workflow)
        return result
      })
    },
  })

  return {
    async run(work) {
      const step = async (): Promise<void> => {
        const client = current.getStore()
        if (client === undefined) throw new Error('no transaction is open')
        await work(client)
      }
      await tools.runTransaction(step, 'receipt', { dsName: NAME })
    },
    close: async () => pool.end(),
  }
}
