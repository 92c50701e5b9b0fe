-- purpose: locks the drained lanes of partitions that are about to receive messages, before any of them is woken, together
--   with the lanes that the caller's acks name: all in the one order, however many queues and placements follow
-- locks in order: lane (queue, partition, group)
-- raises: nothing
-- idempotent how: locks only
-- index used: see _idle_lanes, _lock_lanes
-- The caller holds the partitions, so no further lane of them can become drained.
create or replace function lockstep._lock_woken(
  p_queue_ids int[], p_partition_ids bigint[], p_ack_queue int[], p_ack_partition bigint[], p_ack_group text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_idle record := lockstep._idle_lanes(p_queue_ids, p_partition_ids);
begin
  perform lockstep._lock_lanes(v_idle.queue_id || p_ack_queue, v_idle.partition_id || p_ack_partition, v_idle.grp || p_ack_group);
end
$$;
