// What must be true of the tables after any history whatsoever, whoever ran beside whom. A query that answers a row names a
// broken law; the queries read only and know nothing of how the functions work.
import assert from 'node:assert/strict'
import { administer, type TestDatabase } from '../../src/testing/database.ts'

/** `of` narrows a table to one queue, or to nothing. */
const LAWS: Readonly<Record<string, (of: (alias: string) => string) => string>> = {
  'offsets are given without gaps': (of) => `
    select p.name, p.next_offset, count(m."offset") from lockstep.partition p
      left join lockstep.message m on m.queue_id = p.queue_id and m.partition_id = p.id and m."offset" >= p.log_start
     where ${of('p')} group by p.queue_id, p.id
    having count(m."offset") <> p.next_offset - p.log_start or min(m."offset") <> p.log_start
        or max(m."offset") <> p.next_offset - 1`,
  'what lies below the start of a log is on the list of what is to be deleted': (of) => `
    select p.name, m."offset" from lockstep.partition p
      join lockstep.message m on m.queue_id = p.queue_id and m.partition_id = p.id and m."offset" < p.log_start
     where ${of('p')} and not exists (select 1 from lockstep.log_cut c
             where c.queue_id = p.queue_id and c.partition_id = p.id
               and c.from_offset <= m."offset" and c.to_offset > m."offset")`,
  'created_at never falls inside a partition': (of) => `
    select * from (select m.partition_id, m."offset", m.created_at,
                          lag(m.created_at) over (partition by m.queue_id, m.partition_id order by m."offset") as before
                     from lockstep.message m where ${of('m')}) x where x.created_at < x.before`,
  'a transaction id is stored once inside the window': (of) => `
    select m.partition_id, m.transaction_id from lockstep.message m join lockstep.queue q on q.id = m.queue_id
     where ${of('m')} and q.dedup_window_seconds > 0 group by m.queue_id, m.partition_id, m.transaction_id
    having count(*) > 1 and max(m.created_at) - min(m.created_at) < make_interval(secs => max(q.dedup_window_seconds))`,
  'a message is stored once': (of) =>
    `select m.id from lockstep.message m where ${of('m')} group by m.id having count(*) > 1`,
  'a cursor never passes the head': (of) => `
    select l.* from lockstep.lane l join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
     where ${of('l')} and (l.committed > p.next_offset or l.batch_end > p.next_offset)`,
  'a lane with work to do has an instant at which it is due': (of) => `
    select l.*, p.next_offset from lockstep.lane l
      join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
      join lockstep.consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
     where ${of('l')} and l.available_at is null
       and case when l.committed is null then exists (
             select 1 from lockstep.message m where m.queue_id = p.queue_id and m.partition_id = p.id
                and m."offset" >= p.log_start and m.created_at >= g.starts_at)
           else greatest(l.committed, p.log_start) < p.next_offset end`,
  'a lease is whole or absent': (of) => `
    select l.* from lockstep.lane l
     where ${of('l')} and ((l.lease_id is null) <> (l.lease_expires_at is null) or (l.lease_id is null) <> (l.batch_end is null)
        or l.batch_end <= l.committed or l.lease_id is not null and l.available_at is null)`,
  'every group reaches every partition, now or by its backfill': (of) => `
    select g.name, p.name, p.id from lockstep.consumer_group g
      join lockstep.queue q on q.id = g.queue_id and q.deleted_at is null
      join lockstep.partition p on p.queue_id = g.queue_id
     where ${of('p')} and not exists (select 1 from lockstep.lane l
             where l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p.id)
       and not coalesce(p.id > g.backfill_after and p.id <= g.backfill_until, false)`,
}

/** Of one queue's name, all that ever had it; without a name, of everything. Fails with the law and a row that breaks it. */
export async function assertSound(own: Pick<TestDatabase, 'database'>, queue?: string): Promise<void> {
  const { pool } = own.database
  let ids: readonly number[] = []
  if (queue !== undefined) {
    const found = await pool.query<{ id: number }>('select id from lockstep.queue where name = $1', [queue])
    ids = found.rows.map((row) => row.id)
    if (ids.length === 0) return
  }
  const of = (alias: string): string => (queue === undefined ? 'true' : `${alias}.queue_id in (${ids.join(', ')})`)
  // Over everything there may be much, and the server has not counted it yet.
  if (queue === undefined) await pool.query('analyze lockstep.lane, lockstep.partition, lockstep.message')
  for (const [law, query] of Object.entries(LAWS)) {
    const broken = await pool.query(`${query(of)} limit 1`)
    assert.deepEqual(broken.rows, [], `broken: ${law}`)
  }
}

/** Deadlocks that PostgreSQL had to break in this database. Ends its pool: a session's are counted when it has ended. */
export async function deadlocks(own: TestDatabase): Promise<number> {
  await own.database.close()
  const found = await administer((client) =>
    client.query<{ n: string }>('select deadlocks as n from pg_stat_database where datname = $1', [own.name]),
  )
  return Number(found.rows[0]?.n)
}
