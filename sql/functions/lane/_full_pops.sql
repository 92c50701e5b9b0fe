-- purpose: how many of the waiting pops would be filled to their batch now, the first ones first; null: nothing could be delivered
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: lane_due, partition_pkey
-- For queues with minPopWaitTime only. It decides how long a pop is held, never what is delivered: lanes are judged again,
-- under their locks, by _claim.
create or replace function lockstep._full_pops(
  p_queue queue, p_group consumer_group, p_floor timestamptz, p_now timestamptz, p_pops int, p_batch int, p_partitions int)
returns int
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_lane lane;
  v_head bigint;
  v_start bigint;
  v_ripe_at timestamptz;
  v_full int := 0;
  v_used int := 0;
  v_left bigint := p_batch;
  v_any boolean := false;
begin
  for v_lane in
    select * from lane l
     where l.queue_id = p_queue.id and l.group_id = p_group.id and l.available_at >= p_floor and l.available_at <= p_now
     order by l.available_at
     limit p_pops * p_partitions
  loop
    continue when v_lane.lease_expires_at > p_now or v_lane.backoff_until > p_now;
    select p.next_offset, p.log_start into v_head, v_start
      from partition p where p.queue_id = p_queue.id and p.id = v_lane.partition_id;
    v_start := greatest(v_start,
      coalesce(v_lane.committed, lockstep._resolve_cursor(p_queue.id, v_lane.partition_id, p_group.starts_at)));
    continue when v_head <= v_start;
    if p_queue.delayed_processing_seconds > 0 or p_queue.window_buffer_seconds > 0 then
      select r.head, r.ripe_at into v_head, v_ripe_at from lockstep._ripe(p_queue, v_lane.partition_id, v_start, p_now) r;
      continue when v_ripe_at is not null;
    end if;
    v_any := true;
    v_used := v_used + 1;
    v_left := v_left - case when p_group.conflation or v_lane.narrow_until > v_start then 1 else v_head - v_start end;
    if v_left <= 0 then
      v_full := v_full + 1;
    end if;
    if v_left <= 0 or v_used = p_partitions then
      -- One that has all its partitions and is not full is held, and so are those behind it.
      exit when v_left > 0 or v_full = p_pops;
      v_left := p_batch;
      v_used := 0;
    end if;
  end loop;
  return case when v_any then v_full end;
end
$$;
