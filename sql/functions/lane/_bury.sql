-- purpose: writes dead letters for messages of a lane, each with its error, or drops them when the queue keeps none;
--   answers what was kept
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: the caller moves the cursor past them in the same commit
-- index used: message_pkey
create or replace function lockstep._bury(
  p_queue queue, p_group_name text, p_partition_id bigint, p_offsets bigint[], p_cause text, p_errors text[],
  p_failures int, p_crashes int, p_now timestamptz) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_kept bigint[];
begin
  if not (p_queue.dead_letter_queue or p_queue.dlq_after_max_retries) then
    return '{}';
  end if;
  with kept as (
    insert into dead_letter (queue_id, id, partition_id, partition_name, group_name, "offset", message_id, transaction_id,
                             tx_hash, payload, trace_id, producer_sub, cause, error, failures, crashes, created_at, failed_at)
      select m.queue_id, lockstep.uuid7(), m.partition_id, p.name, p_group_name, m."offset", m.id, m.transaction_id,
             m.tx_hash, m.payload, m.trace_id, m.producer_sub, p_cause, b.error, p_failures, p_crashes, m.created_at, p_now
        from unnest(p_offsets, p_errors) b(at, error)
       cross join lateral (
         select * from message m
          where m.queue_id = p_queue.id and m.partition_id = p_partition_id and m."offset" = b.at limit 1) m
       cross join lateral (
         select p.name from partition p where p.queue_id = p_queue.id and p.id = p_partition_id limit 1) p
      returning "offset"
  )
  select coalesce(array_agg(k."offset"), '{}') into v_kept from kept k;
  return v_kept;
end
$$;
