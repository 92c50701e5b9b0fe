// One library on a database of its own: what the suite's files share. Made once per file, as opening a library costs more than
// a table's rows; every test uses rows and queues of its own.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { Lockstep } from 'lockstep'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../src/testing/database.ts'
import { TABLES, type OpenSubject, type Subject } from './subject.ts'

export interface Ground<Tx> {
  readonly subject: Subject<Tx>
  readonly database: TestDatabase
  readonly lockstep: Lockstep<{ connectionString: string }>
  /** The library once more, by default on the same database. */
  readonly open: (connectionString?: string) => Promise<Subject<Tx>>
  /** A client beside the library's. */
  readonly beside: Client
  /** Statuses of the orders with these ids, as they are committed. */
  readonly statuses: (...ids: readonly bigint[]) => Promise<readonly string[]>
  /** Inputs of the steps that are committed as finished. */
  readonly finished: (step: string) => Promise<readonly string[]>
  /** Texts of the messages that can be had of a queue, each once; waits for the first. */
  readonly texts: (queue: string) => Promise<readonly string[]>
  /** Payloads of a queue that are committed, with an offset or without one yet. */
  readonly committed: (queue: string) => Promise<readonly string[]>
}

export async function openGround<Tx>(t: TestEnd, open: OpenSubject<Tx>): Promise<Ground<Tx>> {
  const database = await createTestDatabase(t)
  await database.database.pool.query(TABLES)
  const subject = await open(database.connectionString)
  const lockstep = new Lockstep({ connectionString: database.connectionString, logger: { warn() {} } })
  t.after(async () => {
    await lockstep.close()
    // A library whose connections the database's end took may be slow to notice.
    await closeWithin(subject, 2_000)
  })
  const beside = await database.connect()

  return {
    subject,
    open: async (connectionString = database.connectionString) => open(connectionString),
    database,
    lockstep,
    beside,
    async statuses(...ids) {
      const { rows } = await beside.query<{ status: string }>(
        'select status from orders where id = any($1) order by id',
        [ids.map(String)],
      )
      return rows.map((row) => row.status)
    },
    async finished(step) {
      const { rows } = await beside.query<{ input: string }>('select input from done where step = $1', [step])
      return rows.map((row) => row.input)
    },
    async texts(queue) {
      const group = lockstep.queue(queue).group('g').subscriptionMode('all').batch(100).partitions(10)
      const messages = await group.wait(true).timeout(1_000).pop()
      await lockstep.ack(messages, 'completed', { group: 'g' })
      return messages.map((message) => message.text)
    },
    async committed(queue) {
      const { rows } = await beside.query<{ payload: string }>(
        `select payload from lockstep.staged where queue_name = $1
         union all select m.payload from lockstep.message m join lockstep.queue q on q.id = m.queue_id where q.name = $1`,
        [queue],
      )
      return rows.map((row) => row.payload)
    },
  }
}

/** The process id of the backend under the transaction, by a statement through its door. */
export async function backendOf<Tx>({ subject }: Ground<Tx>, tx: Tx): Promise<string> {
  const pid = await subject.completion.door(tx).text('select pg_backend_pid()::text as r', [])
  assert.ok(pid !== null)
  return pid
}

/** A library may wait for a connection that somebody else has cut; that is no concern of the suite's. */
export async function closeWithin<Tx>(subject: Subject<Tx>, ms: number): Promise<void> {
  const late = new AbortController()
  await Promise.race([subject.close().catch(() => {}), sleep(ms, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
}

/** After a backend was ended: until the library has noticed, as its pool may hand out the dead connection once more. */
export async function recovered<Tx>({ subject }: Ground<Tx>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await subject.transaction(async (tx) => subject.run(tx, 'select 1'))
      return
    } catch (error) {
      if (attempt === 10) throw error
      await sleep(20)
    }
  }
}
