-- purpose: kept messages of queues, newest first, with where they stand; null filters match all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_pkey, partition_name_once, message_pkey
-- Pages by offsets, never by instants: p_before (with one partition) is the offset of the last row of the page before;
-- p_skip skips rows. Only the partitions that were written last can hold the newest messages, so no more are read.
-- A page ends early where its payloads reach p_bytes, after one row at least; is_cut then says so on every row.
-- With a status or an end of time the thousand written last are looked through (100,000 of them took 17 s).
create or replace function lockstep.list_messages(
  p_queue text, p_partition text, p_namespace text, p_task text, p_status text, p_from timestamptz, p_to timestamptz,
  p_limit int, p_skip int, p_before bigint, p_bytes int default 8388608)
returns table (queue_id int, queue text, namespace text, task text, partition_id bigint, partition text, message_offset bigint,
  id uuid, transaction_id text, trace_id text, producer_sub text, payload text, created_at text, status text,
  is_cut boolean)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    with head as materialized (
      select q.id as queue_id, q.name as queue, q.namespace, q.task, p.id, p.name, p.log_start, p.next_offset
        from queue q
        join partition p on p.queue_id = q.id
       where q.deleted_at is null and p.next_offset > p.log_start
         and (p_queue is null or q.name = p_queue) and (p_partition is null or p.name = p_partition)
         and (p_namespace is null or q.namespace = p_namespace) and (p_task is null or q.task = p_task)
         and (p_from is null or p.last_created_at >= p_from)
       order by p.last_created_at desc, q.id desc, p.id desc
       limit case when p_status is null and p_to is null then p_limit + p_skip else greatest(p_limit + p_skip, 1000) end
    ), page as (
    select h.queue_id, h.queue, h.namespace, h.task, h.id as partition_id, h.name, m."offset", m.id, m.transaction_id,
           m.trace_id, m.producer_sub, m.payload, m.created_at, m.status, m.tx_hash
      from head h
     cross join lateral (
       select k.*, s.status from message k
        cross join lateral (
          select case when p_status is not null
            then lockstep.message_state(h.queue_id, h.id, k."offset", k.tx_hash, k.id, v_now) end as status) s
        where k.queue_id = h.queue_id and k.partition_id = h.id
          and k."offset" >= (select case when p_from is null then h.log_start
                                         else lockstep._resolve_cursor(h.queue_id, h.id, p_from) end)
          and k."offset" < least(coalesce(p_before, h.next_offset), (
                select case when p_to is null then h.next_offset else lockstep._resolve_cursor(h.queue_id, h.id, p_to) end))
          and (p_status is null or s.status = p_status)
        order by k."offset" desc
        limit p_limit + p_skip) m
     order by m.created_at desc, h.queue_id desc, h.id desc, m."offset" desc
     limit p_limit offset p_skip
    ), sized as (
      select g.*, row_number() over o as nth,
             coalesce(sum(octet_length(g.payload)) over (o rows between unbounded preceding and 1 preceding), 0) as before
        from page g
      window o as (order by g.created_at desc, g.queue_id desc, g.partition_id desc, g."offset" desc)
    )
    select z.queue_id, z.queue, z.namespace, z.task, z.partition_id, z.name, z."offset", z.id, z.transaction_id, z.trace_id,
           z.producer_sub, z.payload, lockstep.instant_text(z.created_at),
           coalesce(z.status, lockstep.message_state(z.queue_id, z.partition_id, z."offset", z.tx_hash, z.id, v_now)),
           exists (select from sized y where y.before >= p_bytes)
      from sized z
     where z.before < p_bytes
     order by z.nth;
end
$$;
