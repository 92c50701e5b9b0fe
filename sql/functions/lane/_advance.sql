-- purpose: moves the cursors of lanes of one queue and group past what was completed; the partitions of those it released
-- locks in order: partition, by SKIP LOCKED only, to clear drained lanes
-- raises: nothing
-- idempotent how: the caller holds the lanes and has judged the acks; a cursor only moves forward
-- index used: lane_pkey, partition_pkey
create or replace function lockstep._advance(
  p_queue_id int, p_group_id int, p_partitions bigint[], p_cursors bigint[], p_leases text[], p_digests text[],
  p_now timestamptz, p_clear boolean) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_held bigint[];
  v_released bigint[];
begin
  v_held := '{}';
  if p_clear then
    v_held := array(
      select p.id from partition p
       where p.queue_id = p_queue_id and p.id = any (p_partitions)
         and p.next_offset <= p_cursors[array_position(p_partitions, p.id)]
         for no key update skip locked);
  end if;
  -- In a later statement than the partitions' locks: a push that committed before them is seen.
  with moved as (
    update lane l
       set committed = p_cursors[array_position(p_partitions, l.partition_id)],
           failures = 0, crashes = 0, backoff_until = null,
           narrow_until = case when l.narrow_until > p_cursors[array_position(p_partitions, l.partition_id)]
                               then l.narrow_until end,
           available_at = case
             when l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)] then l.available_at
             when l.partition_id = any (v_held) and p_cursors[array_position(p_partitions, l.partition_id)] >= (
               select p.next_offset from partition p where p.queue_id = p_queue_id and p.id = l.partition_id) then null
             else p_now end,
           batch_end = case when l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)] then l.batch_end end,
           lease_id = case when l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)] then l.lease_id end,
           lease_expires_at = case when l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)]
                                   then l.lease_expires_at end,
           -- Only of an ack that released: one that left the lease held is nobody's last word, and a lapse comes after it.
           released_lease = case when not coalesce(l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)], false)
                                  and p_leases[array_position(p_partitions, l.partition_id)] is not null
                                 then p_leases[array_position(p_partitions, l.partition_id)] else l.released_lease end,
           released_digest = case when not coalesce(l.batch_end > p_cursors[array_position(p_partitions, l.partition_id)], false)
                                   and p_leases[array_position(p_partitions, l.partition_id)] is not null
                                  then p_digests[array_position(p_partitions, l.partition_id)] else l.released_digest end
     where l.queue_id = p_queue_id and l.group_id = p_group_id and l.partition_id = any (p_partitions)
    returning l.partition_id, l.batch_end is null as is_released
  )
  select coalesce(array_agg(m.partition_id) filter (where m.is_released), '{}') into v_released from moved m;
  return v_released;
end
$$;
