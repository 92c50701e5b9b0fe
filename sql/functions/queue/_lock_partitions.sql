-- purpose: locks partitions of several queues in the one order and tells whether all the queues still live
-- locks in order: partition (queue, id)
-- raises: nothing
-- idempotent how: locks only
-- index used: partition_pkey
create or replace function lockstep._lock_partitions(p_queue_ids int[], p_partition_ids bigint[]) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_ids bigint[] := array(select distinct u from unnest(p_partition_ids) u where u is not null);
begin
  foreach v_queue_id in array array(select u from unnest(p_queue_ids) u order by u) loop
    perform 1 from partition p where p.queue_id = v_queue_id and p.id = any (v_ids) order by p.id for no key update;
  end loop;
  -- In a later statement: a queue deleted meanwhile must be resolved again.
  return not exists (
    select 1 from unnest(p_queue_ids) u
     where not exists (select 1 from queue q where q.id = u and q.deleted_at is null));
end
$$;
