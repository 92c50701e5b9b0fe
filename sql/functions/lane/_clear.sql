-- purpose: marks lanes drained whose cursor has reached the head; the caller holds the lanes
-- locks in order: partition, by SKIP LOCKED only: a holder of lanes never waits for a partition
-- raises: nothing
-- idempotent how: what cannot be proved drained stays due and the next visitor tries again
-- index used: partition_pkey, lane_pkey
create or replace function lockstep._clear(p_queue_id int, p_group_id int, p_partition_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_held bigint[];
begin
  v_held := array(
    select p.id from partition p
     where p.queue_id = p_queue_id and p.id = any (p_partition_ids) for no key update skip locked);
  -- In a later statement, so that a push that committed before the lock is seen.
  update lane l set available_at = null
   where l.queue_id = p_queue_id and l.group_id = p_group_id and l.partition_id = any (v_held) and l.lease_id is null
     and l.committed >= (select p.next_offset from partition p where p.queue_id = p_queue_id and p.id = l.partition_id);
end
$$;
