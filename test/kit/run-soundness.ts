// What must be true of runs, their nodes, limits and schedules after any history whatsoever. A query that answers a row names a
// broken law; the queries read only and know nothing of how the functions work.
import assert from 'node:assert/strict'
import type { TestDatabase } from '../../src/testing/database.ts'

const LAWS: Readonly<Record<string, string>> = {
  'a run that has ended has no node that has not': `
    select r.state, n.* from lockstep.node r join lockstep.node n on n.run_id = r.run_id and n.ordinal > 0
     where r.ordinal = 0 and r.finished_at is not null and n.finished_at is null`,
  'an ended node is due for nothing and held by nobody': `
    select * from lockstep.node n where n.finished_at is not null and (n.available_at is not null or n.lease_expires_at is not null)`,
  'the states of the end and the instant of the end go together': `
    select * from lockstep.node n
     where (n.finished_at is not null) <> (n.state in ('done', 'failed', 'skipped', 'cancelled'))`,
  'who waits counts exactly the predecessors that have not ended': `
    select n.* from lockstep.node n
     where n.finished_at is null and n.kind in ('graph', 'node', 'map') and n.state in ('waiting', 'compensating')
       and n.waiting <> (select count(*) from lockstep.node p where p.run_id = n.run_id and p.ordinal > 0
                          and n.ordinal = any (p.children) and p.finished_at is null
                          and (n.ordinal > 0 or n.state <> 'compensating' or p.kind = 'compensation'))`,
  'what waits for no predecessor and has not ended is due, held or waits for a signal': `
    select * from lockstep.node n
     where n.finished_at is null and n.state in ('ready', 'planned') and n.available_at is null and n.kind <> 'flow'`,
  'a lease is whole, and due again when it ends': `
    select * from lockstep.node n where n.lease_expires_at is not null and (n.lease_id is null or n.available_at is null)`,
  'no limit is passed': `
    select n.want, n.limit_key from lockstep.node n where n.limit_max is not null and n.lease_expires_at is not null
     group by 1, 2 having count(*) > max(n.limit_max)`,
  'a limit whose nodes wait is due': `
    select n.* from lockstep.node n where n.filed and n.available_at is not null and not exists (
      select 1 from lockstep.run_limit l where l.want = n.want and l.key = n.limit_key and l.available_at is not null)`,
  'a slot that fired has its run, of the instant of the slot': `
    select s.* from lockstep.schedule_slot s left join lockstep.node n on n.run_id = s.run_id and n.ordinal = 0
     where s.outcome = 'fired' and n.occurrence is distinct from s.due_at`,
  'a key names a run that is there': `
    select k.* from lockstep.run_key k where not exists (select 1 from lockstep.node n where n.run_id = k.run_id and n.ordinal = 0)`,
  'what belongs to a run is gone with it': `
    select s.run_id from (select run_id from lockstep.step union all select run_id from lockstep.signal
                          union all select run_id from lockstep.node where ordinal > 0) s
     where not exists (select 1 from lockstep.node n where n.run_id = s.run_id and n.ordinal = 0)`,
}

const BROKEN = Object.entries(LAWS)
  .map(([law, query]) => `select '${law}' as law where exists (${query})`)
  .join(' union all ')

export async function assertRunsSound({ database }: TestDatabase): Promise<void> {
  const { rows } = await database.pool.query<{ law: string }>({ name: 'laws', text: BROKEN })
  for (const { law } of rows) {
    const query = LAWS[law] ?? ''
    assert.deepEqual((await database.pool.query(`${query} limit 1`)).rows, [], `broken: ${law}`)
  }
}
