-- purpose: the lanes of these partitions that are leased under one of these ids, in the form that _lock_lanes takes
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only; a lease id is never given twice, so a lane without it now cannot have it later
-- index used: lane_lease, consumer_group_pkey
-- In a user's open transaction only these are locked: a lane that a refused ack named may be drained, and pushes would wait.
create or replace function lockstep._leased_lanes(
  p_lease_id text[], p_partition_id bigint[], out queue_id int[], out partition_id bigint[], out grp text[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  select coalesce(array_agg(l.queue_id), '{}'), coalesce(array_agg(l.partition_id), '{}'), coalesce(array_agg(g.name), '{}')
    into queue_id, partition_id, grp
    from lane l
    join consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
   where l.lease_id = any (p_lease_id) and l.partition_id = any (p_partition_id);
end
$$;
