// B28: backends end under load, again and again, idle and at work; the server restarts at once. The process lives, no client
// is used after an error, every call ends with a true answer, and what was acknowledged is there once.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PoolClient } from 'pg'
import { startPostgres } from '../../src/embedded/start-postgres.ts'
import { Listener } from '../../src/db/listen.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { Notifier } from '../../src/db/notify.ts'
import { openDatabase, type Database } from '../../src/db/pool.ts'
import { openTransaction, transaction } from '../../src/db/transaction.ts'
import { closeRequest } from '../../src/operations/close-request.ts'
import { openRequest } from '../../src/operations/open-request.ts'
import { push } from '../../src/operations/push.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { administer, createTestDatabase } from '../../src/testing/database.ts'
import { endBackends } from '../../src/testing/end-backends.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'
import { Upkeep } from '../../src/upkeep/runner.ts'

const KILLS = process.env['LOCKSTEP_LONG'] === '1' ? 2_000 : 200

interface Load {
  /** Calls that were answered with success. */
  answered: number
  readonly acknowledged: Set<string>
  readonly requests: Set<string>
  readonly faults: Map<string, number>
  stop(): Promise<void>
}

/** Eight workers that push and run engine transactions; on a fault they repeat with the same id until it is acknowledged. */
function load(database: Database): Load {
  const stopping = new AbortController()
  const state: Load = {
    answered: 0,
    acknowledged: new Set(),
    requests: new Set(),
    faults: new Map(),
    async stop() {
      stopping.abort()
      await Promise.all(workers)
    },
  }

  async function untilDone(call: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await call()
        state.answered++
        return
      } catch (error) {
        if (!(error instanceof LockstepError)) throw error
        assert.ok(
          ['unavailable', 'outcome_unknown', 'overloaded'].includes(error.code),
          `${error.code}: ${error.message}`,
        )
        state.faults.set(error.code, (state.faults.get(error.code) ?? 0) + 1)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  }

  async function worker(n: number): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round++) {
      const id = `${n}-${round}`
      await untilDone(async () => {
        const [result] = await push(database, [
          {
            queue: 'q',
            partition: `p${n % 3}`,
            transactionId: id,
            payload: '{}',
            traceId: null,
            producerSub: null,
            messageId: mintId(),
          },
        ])
        assert.ok(result?.status === 'queued' || result?.status === 'duplicate')
      })
      state.acknowledged.add(id)
      await untilDone(() =>
        transaction(database, async (tx) => {
          if ((await openRequest(tx, id, 'h')).recorded !== null) return
          await tx.rows('insert into effect (id) values ($1)', [id])
          await closeRequest(tx, id, 'done')
        }),
      )
      state.requests.add(id)
    }
  }
  const workers = Array.from({ length: 8 }, (_, n) => worker(n))
  return state
}

/** Counts clients that the pool gave out after they had met an error. */
function watchReuse(database: Database): { reused: number; errors: number } {
  const seen = { reused: 0, errors: 0 }
  const failed = new WeakSet<PoolClient>()
  database.pool.on('connect', (client) => {
    client.on('error', () => {
      seen.errors++
      failed.add(client)
    })
  })
  database.pool.on('acquire', (client) => {
    if (failed.has(client)) seen.reused++
  })
  return seen
}

async function judge(database: Database, { acknowledged, requests }: Load): Promise<void> {
  const stored = await database.rows('select transaction_id from lockstep.message', [])
  assert.equal(stored.length, acknowledged.size)
  assert.deepEqual(new Set(stored.map(([id]) => id)), acknowledged)
  const effects = await database.rows('select id from effect', [])
  assert.equal(effects.length, requests.size)
  assert.deepEqual(new Set(effects.map(([id]) => id)), requests)
  const gaps = await database.rows(
    `select count(*) from lockstep.partition p where next_offset <> (select count(*) from lockstep.message m
       where m.queue_id = p.queue_id and m.partition_id = p.id)`,
    [],
  )
  assert.deepEqual(gaps, [['0']])
}

test(`all backends ended ${KILLS} times under load: the process lives and nothing acknowledged is lost or doubled`, async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows('create table effect (id text)', [])
  await own.database.close()
  const database = openDatabase({ connectionString: own.connectionString, applicationName: 'victim', connections: 10 })
  const seen = watchReuse(database)
  const listener = new Listener({ config: database.direct, processId: 'a', onHints() {} })
  const notifier = new Notifier({ db: database, processId: 'b', intervalMs: 1 })
  const upkeep = new Upkeep({ db: database })
  listener.start()
  upkeep.start()
  const working = load(database)
  const ticking = setInterval(() => notifier.hint('q'), 1)

  for (let kill = 0; kill < KILLS; kill++) {
    const before = working.answered
    await endBackends(own, 'victim')
    await waitFor('the load to go on', () => working.answered > before + 8)
  }
  clearInterval(ticking)
  await working.stop()
  await Promise.all([listener.stop(), notifier.stop(), upkeep.stop()])
  await judge(database, working)
  assert.equal(seen.reused, 0)
  assert.ok(seen.errors >= KILLS, `${seen.errors} clients were lost`)
  t.diagnostic(`${working.answered} calls, ${seen.errors} lost clients, faults ${JSON.stringify([...working.faults])}`)
  await database.close()
})

test('a call that meets a connection that was closed while it lay idle goes over another one, unseen', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  await administer((client) => client.query(`alter database ${own.name} set idle_session_timeout = '60ms'`))
  const database = openDatabase({ connectionString: own.connectionString, connections: 2 })
  for (let call = 0; call < 60; call++) {
    assert.deepEqual(await database.rows('select 1', []), [['1']])
    await new Promise((resolve) => setTimeout(resolve, 40 + (call % 9) * 5))
  }
  await database.close()
})

test('a restart and an immediate stop under load, with transactions open: 503 while it is down, then it goes on by itself', async (t) => {
  const folder = temporaryFolder('restart')
  t.after(() => folder.remove())
  const home = join(folder.path, 'server')
  let server = await startPostgres({ home })
  const { port } = server
  const database = openDatabase({ connectionString: server.connectionString, connections: 10 })
  const seen = watchReuse(database)
  await migrate(database)
  await database.rows('create table effect (id text)', [])
  const working = load(database)

  for (const how of ['SIGINT', 'SIGQUIT', 'SIGQUIT'] as const) {
    await waitFor('the load to go on', () => working.answered > 50, 20_000)
    const open = await openTransaction(database)
    await open.rows('insert into effect (id) values ($1)', ['never committed'])
    process.kill(server.pid, how)
    await waitFor('the outage to be met', () => (working.faults.get('unavailable') ?? 0) > 0)
    await assert.rejects(open.commit(), LockstepError)
    await open.rollback()
    server = await startPostgres({ home, port })
    working.answered = 0
    working.faults.clear()
  }
  await waitFor('the load to go on', () => working.answered > 50, 20_000)
  await working.stop()
  await judge(database, working)
  assert.equal(seen.reused, 0)
  await database.close()
  await server.stop()
})
