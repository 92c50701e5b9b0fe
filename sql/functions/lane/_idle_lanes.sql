-- purpose: the drained lanes of partitions that are about to receive messages, in the form that _lock_lanes takes
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_pkey, lane_pkey
create or replace function lockstep._idle_lanes(
  p_queue_ids int[], p_partition_ids bigint[], out queue_id int[], out partition_id bigint[], out grp text[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  select coalesce(array_agg(l.queue_id), '{}'), coalesce(array_agg(l.partition_id), '{}'), coalesce(array_agg(g.name), '{}')
    into queue_id, partition_id, grp
    from consumer_group g
    join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = any (p_partition_ids)
   where g.queue_id = any (p_queue_ids) and l.available_at is null;
end
$$;
