-- purpose: judges the pushes of steps before anything is written: an id that its partition remembers, or a full queue, loses
-- locks in order: none beyond the partitions that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_name_once, message_tx_hash
-- One row per losing step, its first losing item. Repeats inside one step are no losers: they are stored once.
create or replace function lockstep._judge_pushes(
  p_step int[], p_pos int[], p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[], p_now timestamptz)
returns table (step int, pos int, reason text, message_id uuid, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
  select distinct on (i.step) i.step, i.pos, case when m.id is null then 'queue_full' else 'duplicate' end, m.id,
         coalesce(m.payload <> i.payload, false)
    from (select *, row_number() over (partition by u.queue order by u.step, u.pos) as nth
            from unnest(p_step, p_pos, p_queue, p_partition, p_transaction_id, p_payload)
                 u(step, pos, queue, partition, tx, payload)) i
   cross join lateral (
      select q.id, q.max_size, q.dedup_window_seconds from queue q where q.name = i.queue and q.deleted_at is null limit 1) q
    left join lateral (
      select p.id from partition p where p.queue_id = q.id and p.name = i.partition limit 1) p on true
    left join lateral (
      select k.id, k.payload from message k
       where k.queue_id = q.id and k.tx_hash = lockstep.tx_hash(p.id, i.tx) and k.partition_id + 0 = p.id and k.transaction_id = i.tx
         and k.created_at > p_now - make_interval(secs => q.dedup_window_seconds)
       order by k."offset" limit 1) m on i.tx is not null and q.dedup_window_seconds > 0
   where m.id is not null or (q.max_size > 0 and lockstep._waiting(q.id) + i.nth > q.max_size)
   order by i.step, i.pos;
end
$$;
