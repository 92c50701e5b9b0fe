-- purpose: ack_joined for calls of which some complete a leased batch by its ids: those are carried out as batches where they can
-- locks in order: lane (queue, partition, group), then partition (SKIP LOCKED) to clear drained lanes
-- raises: LS425 isolation_not_supported
-- idempotent how: as ack_joined
-- index used: as ack_joined
-- Each batch is one call on one lane, a lane at most once among them, its ids one text of lines. Answers: batch 0 has one row
-- per item, ord its place; a batch carried out has one row with ord 0 for all its ids; any other one row per id, ord its place.
create or replace function lockstep.ack_calls_joined(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_error text[],
  p_batch_call int[], p_batch_queue_id int[], p_batch_partition_id bigint[], p_batch_group text[], p_batch_lease_id text[],
  p_batch_count int[], p_batch_transaction_ids text[])
returns table (batch int, ord int, success boolean, error text, lease_released boolean, dlq boolean, noop boolean,
               conflated bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_carried int[];
  v_released boolean[];
  v_of int[] := array_fill(0, array[cardinality(p_call)]);
  v_place int[] := array(select generate_series(1, cardinality(p_call)));
  v_call int[];
  v_queue_id int[];
  v_partition_id bigint[];
  v_group text[];
  v_lease_id text[];
  v_transaction_id text[];
  v_left_of int[];
  v_left_place int[];
  v_nulls text[];
begin
  perform lockstep._demand_read_committed();
  -- All lanes at once: two sorted sets one after the other would not be sorted.
  perform lockstep._lock_lanes(p_queue_id || p_batch_queue_id, p_partition_id || p_batch_partition_id, p_group || p_batch_group);
  v_now := lockstep.clock();
  select coalesce(array_agg(b.nth), '{}'), coalesce(array_agg(b.lease_released), '{}') into v_carried, v_released
    from lockstep._settle_batches(p_batch_queue_id, p_batch_partition_id, p_batch_group, p_batch_lease_id,
                                  p_batch_count, p_batch_transaction_ids, v_now) b;
  return query select c.nth, 0, true, null::text, c.released, false, false, null::bigint from unnest(v_carried, v_released) c(nth, released);
  if cardinality(v_carried) < cardinality(p_batch_call) then
    select array_agg(b.call), array_agg(b.queue_id), array_agg(b.partition_id), array_agg(b.grp), array_agg(b.lease),
           array_agg(t.tx), array_agg(b.nth::int), array_agg(t.place::int), array_agg(null::text)
      into v_call, v_queue_id, v_partition_id, v_group, v_lease_id, v_transaction_id, v_left_of, v_left_place, v_nulls
      from unnest(p_batch_call, p_batch_queue_id, p_batch_partition_id, p_batch_group, p_batch_lease_id, p_batch_transaction_ids)
           with ordinality b(call, queue_id, partition_id, grp, lease, ids, nth)
     cross join lateral unnest(string_to_array(b.ids, E'\n')) with ordinality t(tx, place)
     where b.nth <> all (v_carried);
  elsif cardinality(p_call) = 0 then
    return;
  end if;
  v_of := v_of || v_left_of;
  v_place := v_place || v_left_place;
  return query
    select v_of[a.ord], v_place[a.ord], a.success, a.error, a.lease_released, a.dlq, a.noop, a.conflated
      from lockstep.ack_joined(
        p_call || v_call, p_queue_id || v_queue_id, p_partition_id || v_partition_id, p_group || v_group,
        p_lease_id || v_lease_id, p_transaction_id || v_transaction_id, p_offset || v_nulls::bigint[],
        p_status || array(select 'completed'::text from unnest(v_left_of)), p_error || v_nulls) a;
end
$$;
