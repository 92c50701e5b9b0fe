-- purpose: visits lanes worth visiting, judges each under its lock and leases what is ripe to the waiting pops in turn,
--   within the bytes of a pop and of the call
-- locks in order: lane (SKIP LOCKED), then partition (SKIP LOCKED) to clear the drained ones
-- raises: nothing
-- idempotent how: a lane is leased once; what is not ripe is put back at its own instant
-- index used: lane_due, lane_pkey, partition_pkey, message_pkey
-- A conflating group's cursor moves past what is skipped when the newest message is leased: nothing older is ever delivered.
create or replace function lockstep._claim(
  p_queue queue, p_group consumer_group, p_partition_id bigint, p_floor timestamptz, p_now timestamptz, p_lease_id text[],
  p_batch int, p_partitions int, p_lease interval, p_auto_ack boolean) returns lockstep._claims
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_out lockstep._claims;
  v_request int := 1;
  v_used int := 0;
  v_left int := p_batch;
  v_limit int;
  v_seen int;
  v_lane lane;
  v_was lane;
  v_head bigint;
  v_start bigint;
  v_count bigint;
  v_fit bigint;
  v_bytes bigint;
  v_room bigint := 8 * 1024 * 1024; -- LIMITS.popBytes
  v_call_room bigint := 32 * 1024 * 1024; -- LIMITS.popCallBytes
  v_drained bigint[] := '{}';
  v_floor timestamptz := p_floor;
  v_ripe_at timestamptz;
  -- Nearly all queues deliver what they have.
  v_choosy boolean := p_queue.delayed_processing_seconds > 0 or p_queue.window_buffer_seconds > 0;
begin
  v_out.request := '{}';
  v_out.oldest := 'infinity';
  loop
    v_limit := (cardinality(p_lease_id) - v_request + 1) * p_partitions - v_used;
    v_seen := 0;
    for v_lane in
      select * from lockstep._claimable(p_queue.id, p_group.id, p_partition_id, v_floor, p_now, v_limit)
    loop
      v_seen := v_seen + 1;
      v_floor := greatest(v_floor, v_lane.available_at);
      v_out.oldest := least(v_out.oldest, v_lane.available_at);
      if v_lane.lease_expires_at > p_now then
        -- Extended: come back when it ends.
        update lane l set available_at = v_lane.lease_expires_at
         where l.queue_id = p_queue.id and l.group_id = p_group.id and l.partition_id = v_lane.partition_id
           and l.available_at <= p_now;
        continue;
      end if;
      v_was := v_lane;
      if v_lane.committed is null then
        v_lane.committed := lockstep._resolve_cursor(p_queue.id, v_lane.partition_id, p_group.starts_at);
      end if;
      if v_lane.lease_id is not null then
        v_lane := lockstep._judge_lapse(p_queue, p_group.name, v_lane, p_now);
      end if;
      select p.next_offset, p.log_start into v_head, v_start
        from partition p where p.queue_id = p_queue.id and p.id = v_lane.partition_id;
      if v_lane.committed < v_start then
        -- Retention took the message at the cursor, and what was counted for it.
        v_lane.committed := v_start;
        v_lane.failures := 0;
        v_lane.crashes := 0;
        v_lane.backoff_until := null;
      end if;
      v_ripe_at := v_lane.backoff_until;
      if v_choosy and v_head > v_lane.committed then
        select r.head, greatest(v_ripe_at, r.ripe_at) into v_head, v_ripe_at
          from lockstep._ripe(p_queue, v_lane.partition_id, v_lane.committed, p_now) r;
      end if;
      v_count := least(v_head - v_lane.committed, v_left, case when v_lane.narrow_until > v_lane.committed then 1 end);
      if v_ripe_at > p_now or v_count <= 0 then
        -- As it was left: a poll of one partition that finds nothing writes nothing.
        continue when v_was.lease_id is null and v_was.committed = v_lane.committed
          and case when v_count <= 0 then v_was.available_at is null else v_was.available_at = v_ripe_at end;
        if v_count <= 0 then
          v_drained := v_drained || v_lane.partition_id;
        end if;
        -- Not ripe: its own instant. Drained: stays due until _clear has proved it.
        update lane l
           set available_at = case when v_count <= 0 then p_now + interval '1 microsecond' else v_ripe_at end,
               committed = v_lane.committed, batch_end = null, lease_id = null, lease_expires_at = null,
               backoff_until = v_lane.backoff_until,
               crashes = v_lane.crashes, failures = v_lane.failures, narrow_until = v_lane.narrow_until
         where l.queue_id = p_queue.id and l.group_id = p_group.id and l.partition_id = v_lane.partition_id;
        continue;
      end if;
      if p_group.conflation then
        v_lane := lockstep._conflate(v_lane, v_head);
        v_count := 1;
      end if;
      -- Only so many bytes are held in memory at a time; the first message of a pop goes whatever its size.
      -- A sum first: it costs a third of what finding the place to cut does.
      select sum(octet_length(m.payload)) into v_bytes from message m
       where m.queue_id = p_queue.id and m.partition_id = v_lane.partition_id and m."offset" >= v_lane.committed
         and m."offset" < v_lane.committed + v_count;
      if v_bytes > v_room and v_count > 1 then
        select count(*), sum(f.bytes) into v_fit, v_bytes
          from (select octet_length(m.payload) as bytes, sum(octet_length(m.payload)) over (order by m."offset") as upto
                  from message m
                 where m.queue_id = p_queue.id and m.partition_id = v_lane.partition_id and m."offset" >= v_lane.committed
                 order by m."offset" limit v_count) f
         where f.upto - f.bytes < v_room;
        if v_fit < v_count then
          v_count := greatest(v_fit, 1);
          v_left := v_count;
        end if;
      end if;
      v_room := v_room - coalesce(v_bytes, 0);
      v_call_room := v_call_room - coalesce(v_bytes, 0);
      v_out.request := v_out.request || v_request;
      v_out.partition_id := v_out.partition_id || v_lane.partition_id;
      v_out.first := v_out.first || v_lane.committed;
      v_out.past := v_out.past || v_lane.committed + v_count;
      v_out.delivery := v_out.delivery
        || case when v_lane.delivered_from = v_lane.committed and not p_auto_ack then v_lane.deliveries + 1 else 1 end;
      if p_auto_ack then
        update lane l
           set committed = v_lane.committed + v_count, batch_end = null, lease_id = null, lease_expires_at = null,
               backoff_until = null, available_at = p_now + interval '1 microsecond', crashes = 0, failures = 0,
               narrow_until = null
         where l.queue_id = p_queue.id and l.group_id = p_group.id and l.partition_id = v_lane.partition_id;
        v_drained := v_drained || v_lane.partition_id;
      else
        update lane l
           set committed = v_lane.committed, batch_end = v_lane.committed + v_count, lease_id = p_lease_id[v_request],
               lease_expires_at = p_now + p_lease, available_at = p_now + p_lease, backoff_until = null,
               crashes = v_lane.crashes, failures = v_lane.failures, narrow_until = v_lane.narrow_until,
               conflated_at = v_lane.conflated_at, conflated_from = v_lane.conflated_from,
               delivered_from = v_lane.committed, deliveries = v_out.delivery[cardinality(v_out.delivery)]
         where l.queue_id = p_queue.id and l.group_id = p_group.id and l.partition_id = v_lane.partition_id;
      end if;
      v_left := v_left - v_count;
      v_used := v_used + 1;
      if v_left = 0 or v_used = p_partitions or v_room <= 0 then
        v_request := v_request + 1;
        v_used := 0;
        v_left := p_batch;
        v_room := 8 * 1024 * 1024; -- LIMITS.popBytes
        exit when v_request > cardinality(p_lease_id) or v_call_room <= 0;
      end if;
    end loop;
    exit when v_seen < v_limit or v_request > cardinality(p_lease_id) or v_call_room <= 0 or p_partition_id is not null;
  end loop;
  if cardinality(v_drained) > 0 then
    perform lockstep._clear(p_queue.id, p_group.id, v_drained);
  end if;
  return v_out;
end
$$;
