-- purpose: places what is staged before a plain push to the same partitions; answers the partitions that still hold staged
--   rows after one visit's worth, whose items must be staged behind them to keep the order
-- locks in order: lane (queue, partition, group); the caller holds the partitions
-- raises: nothing
-- idempotent how: see _place
-- index used: staged_pkey
create or replace function lockstep._place_before_push(p_names text[], p_queue_ids int[], p_partition_ids bigint[])
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_staged bigint[];
  v_busy bigint[] := '{}';
  v_locked boolean := cardinality(p_names) > 1;  -- by the caller: several queues are woken one after the other
begin
  for i in 1 .. cardinality(p_names) loop
    v_staged := array(
      select p.id from partition p
       where p.queue_id = p_queue_ids[i] and p.id = any (p_partition_ids)
         and (select s.seq from staged s where s.queue_name = p_names[i] and s.partition_name = p.name limit 1) is not null);
    continue when cardinality(v_staged) = 0;
    if not v_locked then
      perform lockstep._lock_woken(p_queue_ids, p_partition_ids, '{}', '{}', '{}');
      v_locked := true;
    end if;
    perform lockstep._place(p_queue_ids[i], p_names[i], v_staged, 1000); -- LIMITS.placedPerVisit
    v_busy := v_busy || array(
      select p.id from partition p
       where p.queue_id = p_queue_ids[i] and p.id = any (v_staged)
         and (select s.seq from staged s where s.queue_name = p_names[i] and s.partition_name = p.name limit 1) is not null);
  end loop;
  return v_busy;
end
$$;
