-- purpose: how much of a lane's partition may be delivered now: one past the newest message that is old enough, or when the next
--   one will be
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_pkey, message_pkey
-- Only asked for queues with delayedProcessing or windowBuffer. ripe_at is null when something may be delivered now.
-- A binary search, as created_at never falls inside a partition; the caller has seen that p_from is below the head.
create or replace function lockstep._ripe(
  p_queue queue, p_partition_id bigint, p_from bigint, p_now timestamptz, out head bigint, out ripe_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_delay interval := make_interval(secs => p_queue.delayed_processing_seconds);
  v_last timestamptz;
  v_pushed timestamptz;
  v_created timestamptz;
  v_low bigint := p_from;
  v_middle bigint;
begin
  select p.next_offset, p.last_created_at, p.last_pushed_at into head, v_last, v_pushed
    from partition p where p.queue_id = p_queue.id and p.id = p_partition_id;
  if p_queue.window_buffer_seconds > 0 and v_pushed + make_interval(secs => p_queue.window_buffer_seconds) > p_now then
    ripe_at := v_pushed + make_interval(secs => p_queue.window_buffer_seconds);
  end if;
  if p_queue.delayed_processing_seconds = 0 or v_last <= p_now - v_delay then
    return;
  end if;
  select m.created_at into v_created from message m
   where m.queue_id = p_queue.id and m.partition_id = p_partition_id and m."offset" = p_from;
  if v_created > p_now - v_delay then
    ripe_at := greatest(ripe_at, v_created + v_delay);
    return;
  end if;
  -- [p_from, v_low) is old enough, [head, …) is not.
  while v_low < head loop
    v_middle := (v_low + head) / 2;
    select m.created_at into v_created from message m
     where m.queue_id = p_queue.id and m.partition_id = p_partition_id and m."offset" = v_middle;
    if v_created > p_now - v_delay then
      head := v_middle;
    else
      v_low := v_middle + 1;
    end if;
  end loop;
end
$$;
