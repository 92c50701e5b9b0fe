-- purpose: carries out the judged acks of one call on a lane of which some failed: moves the cursor, charges the failure, buries what is
--   exhausted, releases the lease; the lowest failed, retry or dlq wins over any completed above it
-- locks in order: partition, by SKIP LOCKED only, when the lane may be drained and p_clear says so
-- raises: nothing
-- idempotent how: the caller holds the lane and has judged the items in the same transaction
-- index used: lane_pkey, partition_pkey
-- An ack at an offset, whatever its status, says that everything below it in the batch is done.
create or replace function lockstep._settle(
  p_queue queue, p_group_name text, p_lane lane, p_offset bigint[], p_status text[], p_error text[],
  p_lease_id text, p_digest text, p_now timestamptz, p_clear boolean, out released boolean, out buried bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_top bigint;
  v_nack bigint;
  v_kind text;
  v_cursor bigint;
  v_failures int := p_lane.failures;
  v_crashes int := p_lane.crashes;
  v_backoff timestamptz;
  v_available timestamptz;
  v_head bigint;
  v_walk record;
begin
  buried := '{}';
  select max(i.at) filter (where i.status = 'completed'), min(i.at) filter (where i.status <> 'completed')
    into v_top, v_nack from unnest(p_offset, p_status) i(at, status);
  v_cursor := greatest(p_lane.committed, v_top + 1);
  if v_nack is not null then
    -- dlq before failed before retry, when one message got several.
    select (array['dlq', 'failed', 'retry'])[min(array_position(array['dlq', 'failed', 'retry'], i.status))] into v_kind
      from unnest(p_offset, p_status) i(at, status) where i.at = v_nack and i.status <> 'completed';
    v_cursor := v_nack;
  end if;
  if v_cursor > p_lane.committed then
    -- Counted for the message at the cursor, not for its neighbours.
    v_failures := 0;
    v_crashes := 0;
  end if;
  if v_kind = 'dlq' or (v_kind = 'failed' and v_failures >= p_queue.retry_limit) then
    select * into v_walk
      from lockstep._walk_exhausted(p_offset, p_status, p_error, v_nack, v_top, v_kind = 'failed' or v_failures >= p_queue.retry_limit);
    buried := lockstep._bury(p_queue, p_group_name, p_lane.partition_id, v_walk.dead,
      case when v_kind = 'dlq' then 'forced' else 'failed' end, v_walk.reasons, v_failures, v_crashes, p_now);
    v_cursor := v_walk.past;
    v_failures := case when v_walk.keeps_budget then v_failures else 0 end;
    v_crashes := 0;
  elsif v_kind = 'failed' then
    v_failures := v_failures + 1;
    v_backoff := p_now + lockstep._backoff(p_queue.retry_delay_ms, p_queue.retry_delay_max_ms, v_failures);
  elsif v_kind = 'retry' and p_lane.deliveries > 1 then
    -- Handed back again and again: a short growing pause, so that nobody spins on it.
    v_backoff := p_now + make_interval(secs => least(1000, 10 * power(2, least(p_lane.deliveries, 10))) / 1000.0);
  end if;

  released := v_nack is not null or p_lane.batch_end is null or v_cursor >= p_lane.batch_end;
  v_available := p_lane.available_at;
  if released then
    v_available := coalesce(v_backoff, p_now);
    select p.next_offset into v_head from partition p where p.queue_id = p_queue.id and p.id = p_lane.partition_id;
    if v_backoff is null and v_head <= v_cursor and p_clear then
      -- Drained, if that can be proved without waiting; the look comes in a statement after the lock.
      perform 1 from partition p where p.queue_id = p_queue.id and p.id = p_lane.partition_id for no key update skip locked;
      if found then
        select case when p.next_offset > v_cursor then p_now end into v_available
          from partition p where p.queue_id = p_queue.id and p.id = p_lane.partition_id;
      end if;
    end if;
  end if;
  update lane l
     set committed = v_cursor, failures = v_failures, crashes = v_crashes, available_at = v_available,
         backoff_until = v_backoff,
         batch_end = case when not released then l.batch_end end,
         lease_id = case when not released then l.lease_id end,
         lease_expires_at = case when not released then l.lease_expires_at end,
         narrow_until = case when l.narrow_until > v_cursor then l.narrow_until end,
         released_lease = case when released and p_lease_id is not null then p_lease_id else l.released_lease end,
         released_digest = case when released and p_lease_id is not null then p_digest else l.released_digest end
   where l.queue_id = p_queue.id and l.group_id = p_lane.group_id and l.partition_id = p_lane.partition_id;
end
$$;
