-- purpose: moves staged pushes of partitions into the log, lowest seq first, and wakes the lanes; the caller holds the partitions
-- locks in order: queue (key share, SKIP LOCKED), lane (partition, group)
-- raises: nothing
-- idempotent how: delete and insert are one statement; an id that a plain push stored meanwhile is dropped, or with
--   another body goes to the dead letters as a conflict
-- index used: staged_pkey, message_tx_hash
create or replace function lockstep._place(p_queue_id int, p_name text, p_partition_ids bigint[], p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_window int;
  v_now timestamptz;
  v_placed bigint[];
  v_count int;
begin
  -- Held to the commit: a queue that is being deleted takes nothing more, and what was staged after the deletion waits for the
  -- queue that has the name then. Queues come before partitions in the order, so this is only tried.
  perform 1 from queue q where q.id = p_queue_id and q.deleted_at is null for key share skip locked;
  if not found then
    return 0;
  end if;
  select q.dedup_window_seconds into v_window from queue q where q.id = p_queue_id;
  v_now := lockstep.clock();
  with next as materialized (
    select p.id as partition_id, p.name, p.next_offset, p.last_created_at, n.seq
      from partition p
     cross join lateral (
       select s.seq from staged s where s.queue_name = p_name and s.partition_name = p.name order by s.seq limit p_limit) n
     where p.queue_id = p_queue_id and p.id = any (p_partition_ids)
     order by n.seq
     limit p_limit
  ), gone as (
    delete from staged s using next n
     where s.queue_name = p_name and s.partition_name = n.name and s.seq = n.seq
    returning n.partition_id, n.next_offset, n.last_created_at, s.partition_name, s.seq, s.dedup_key, s.id,
              s.transaction_id, lockstep.tx_hash(n.partition_id, s.transaction_id) as tx_hash, s.payload, s.trace_id, s.producer_sub
  ), judged as (
    select g.*, m.id as first_id, m.payload as first_payload
      from gone g
      left join lateral (
        select k.id, k.payload from message k
         where k.queue_id = p_queue_id and k.tx_hash = g.tx_hash and k.partition_id + 0 = g.partition_id
           and k.transaction_id = g.transaction_id and k.created_at > v_now - make_interval(secs => v_window)
         limit 1) m on g.dedup_key is not null and v_window > 0
  ), stored as (
    insert into message (queue_id, partition_id, "offset", id, transaction_id, tx_hash, payload, trace_id, producer_sub, created_at)
      select p_queue_id, j.partition_id,
             j.next_offset + row_number() over (partition by j.partition_id order by j.seq) - 1,
             j.id, j.transaction_id, j.tx_hash, j.payload, j.trace_id, j.producer_sub, greatest(v_now, j.last_created_at)
        from judged j where j.first_id is null
      returning partition_id
  ), moved as (
    update partition p
       set next_offset = p.next_offset + c.n, last_created_at = greatest(v_now, p.last_created_at), last_pushed_at = v_now
      from (select j.partition_id, count(*) as n from judged j where j.first_id is null group by 1) c
     where p.queue_id = p_queue_id and p.id = c.partition_id
  ), clashed as (
    insert into dead_letter (queue_id, id, partition_id, partition_name, group_name, message_id, transaction_id, tx_hash,
                             payload, trace_id, producer_sub, cause, error, failures, crashes, created_at, failed_at)
      select p_queue_id, md5(j.id::text || j.seq)::uuid, j.partition_id, j.partition_name, '', j.id, j.transaction_id, j.tx_hash, j.payload, j.trace_id,
             j.producer_sub, 'conflict', 'transaction id already used with another payload', 0, 0, v_now, v_now
        from judged j where lockstep._differs(j.first_payload, j.payload)
  )
  select (select array_agg(distinct s.partition_id) from stored s), (select count(*) from gone) into v_placed, v_count;
  if v_placed is not null then
    perform lockstep._wake(p_queue_id, v_placed, v_now);
  end if;
  return v_count;
end
$$;
