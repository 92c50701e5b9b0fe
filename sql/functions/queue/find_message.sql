-- purpose: one message by its partition and transaction id, the newest of that id, with what each group made of it; from the
--   dead letters when the log no longer has it
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_pkey, message_tx_hash, dead_letter_message, lane_pkey
create or replace function lockstep.find_message(p_queue_id int, p_partition_id bigint, p_transaction_id text)
returns table (queue_id int, queue text, namespace text, task text, options json, partition_id bigint, partition text, message_offset bigint,
  id uuid, transaction_id text, trace_id text, producer_sub text, payload text, created_at text, status text, failures int,
  error text, groups json)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with clock as materialized (select lockstep.clock() as now, lockstep.tx_hash(p_partition_id, p_transaction_id) as hash)
  select q.id, q.name, q.namespace, q.task, lockstep.queue_options(q), p.id, p.name, f."offset", f.id, f.transaction_id,
         f.trace_id, f.producer_sub, f.payload, lockstep.instant_text(f.created_at),
         case when f.dead then 'dead_letter'
              else lockstep.message_state(q.id, p.id, f."offset", c.hash, f.id, c.now) end as status,
         coalesce(d.failures, g.failures, 0) as failures, d.error, g.groups
    from clock c
   cross join queue q
    join partition p on p.queue_id = q.id and p.id = p_partition_id
    left join lateral (
      select d.failures, d.error, d.message_id from dead_letter d
       where d.queue_id = q.id and d.tx_hash = c.hash and d.partition_id = p.id and d.transaction_id = p_transaction_id
       order by d.failed_at desc limit 1) d on true
   cross join lateral (
      (select m."offset", m.id, m.transaction_id, m.trace_id, m.producer_sub, m.payload, m.created_at, false as dead
         from message m
        where m.queue_id = q.id and m.tx_hash = c.hash and m.partition_id + 0 = p.id and m.transaction_id = p_transaction_id
          and m."offset" >= p.log_start
        order by m."offset" desc limit 1)
      union all
      (select d."offset", d.message_id, d.transaction_id, d.trace_id, d.producer_sub, d.payload, d.created_at, true
         from dead_letter d
        where d.queue_id = q.id and d.tx_hash = c.hash and d.partition_id = p.id and d.transaction_id = p_transaction_id
        order by d.failed_at desc limit 1)
      order by dead limit 1) f
   cross join lateral (
      -- Names and flags only: no payload comes near this JSON.
      select coalesce(json_agg(json_build_object('group', g.name, 'consumed', coalesce(l.committed > f."offset", false),
               'leaseExpiresAt', case when l.lease_expires_at > c.now and l.committed <= f."offset" and l.batch_end > f."offset"
                                      then lockstep.instant_text(l.lease_expires_at) end) order by g.name), '[]') as groups,
             max(case when l.committed = f."offset" then l.failures end) as failures
        from consumer_group g
        left join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p.id
       where g.queue_id = q.id) g
   where q.id = p_queue_id and q.deleted_at is null
$$;
