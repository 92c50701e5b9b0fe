-- purpose: kept messages of queues, newest first, with where they stand; null filters match all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_pkey, partition_name_once, message_pkey
-- Pages by offsets, never by instants: p_before (with one partition) is the offset of the last row of the page before;
-- p_skip skips rows. Only the partitions that were written last can hold the newest messages, so no more are read;
-- with a status or an end of time the thousand written last are looked through (100,000 of them took 17 s).
create or replace function lockstep.list_messages(
  p_queue text, p_partition text, p_namespace text, p_task text, p_status text, p_from timestamptz, p_to timestamptz,
  p_limit int, p_skip int, p_before bigint)
returns table (queue_id int, queue text, namespace text, task text, partition_id bigint, partition text, message_offset bigint,
  id uuid, transaction_id text, trace_id text, producer_sub text, payload text, created_at text, status text)
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
    )
    select h.queue_id, h.queue, h.namespace, h.task, h.id, h.name, m."offset", m.id, m.transaction_id, m.trace_id,
           m.producer_sub, m.payload, lockstep.instant_text(m.created_at),
           coalesce(m.status, lockstep.message_state(h.queue_id, h.id, m."offset", m.tx_hash, m.id, v_now))
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
     limit p_limit offset p_skip;
end
$$;
