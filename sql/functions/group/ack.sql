-- purpose: settles one message inside the caller's own transaction, fenced by its lease; everything below it in the batch is
--   done too
-- locks in order: lane
-- raises: LS400 bad_request, LS425 isolation_not_supported
-- idempotent how: below the cursor a completed ack changes nothing
-- index used: lane_pkey
-- The lease is demanded: an ack without one could hold a drained lane to the end of the caller's transaction.
-- Example: begin; update orders …; select * from lockstep.ack(partition_id, message_offset, lease_id, 'billing'); commit;
create or replace function lockstep.ack(
  p_partition_id text, p_offset bigint, p_lease_id text, p_group text default '__QUEUE_MODE__', p_status text default 'completed',
  p_error text default null, out success boolean, out error text, out lease_released boolean, out dlq boolean, out noop boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_queue_id int[];
  v_partition_id bigint[];
  v_judged record;
  v_settled record;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  if p_partition_id is null or p_partition_id !~ '^[0-9]{13,22}$' or p_offset is null or p_lease_id is null then
    raise exception using errcode = 'LS400', detail = 'bad_request',
      message = 'p_partition_id, p_offset and p_lease_id must be those that pop answered';
  end if;
  if p_status is null or p_status not in ('completed', 'failed', 'retry', 'dlq') then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_status must be completed, failed, retry or dlq';
  end if;
  v_queue_id := array[left(p_partition_id, -12)::int];
  v_partition_id := array[right(p_partition_id, 12)::bigint];
  perform lockstep._lock_lanes(l.queue_id, l.partition_id, l.grp) from lockstep._leased_lanes(array[p_lease_id], v_partition_id) l;
  v_now := lockstep.clock();
  v_judged := lockstep._judge_step_acks(v_queue_id, v_partition_id, array[p_group], array[p_lease_id], array[null::text],
    array[p_offset], array[p_status], false, v_now);
  error := v_judged.loss[1];
  success := error is null;
  lease_released := false;
  dlq := false;
  noop := false;
  if success then
    select s.released, s.dlq into lease_released, dlq
      from lockstep._settle_all(array[1], v_queue_id, v_partition_id, array[p_group], v_judged.group_id, array[p_lease_id],
        array[null::text], array[p_offset], array[p_status], array[p_error], v_judged.at, v_judged.verdict, v_now, false) s;
  end if;
end
$$;
