-- purpose: carries out judged acks: lanes that only complete in one set, lanes with a failed, retry or dlq one by one
-- locks in order: partition, by SKIP LOCKED only, to clear drained lanes
-- raises: nothing
-- idempotent how: the caller holds the lanes and has judged the items (verdict null) in the same transaction
-- index used: lane_pkey, partition_pkey
create or replace function lockstep._settle_all(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_group_id int[], p_lease_id text[],
  p_transaction_id text[], p_offset bigint[], p_status text[], p_error text[], p_at bigint[], p_verdict text[],
  p_now timestamptz, p_clear boolean)
returns table (nth int, released boolean, dlq boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_set record;
  v_settled record;
  v_lane lane;
  v_queue queue;
begin
  if array_position(p_verdict, null) is null then
    return;
  end if;
  return query select * from lockstep._settle_completed(
    p_call, p_queue_id, p_partition_id, p_group_id, p_lease_id, p_transaction_id, p_offset, p_status, p_at, p_verdict, p_now, p_clear);
  if 'failed' <> all (p_status) and 'retry' <> all (p_status) and 'dlq' <> all (p_status) then
    return;
  end if;
  for v_set in
    select i.call, i.queue_id, i.partition_id, i.grp, i.group_id, min(i.lease) as lease, array_agg(i.ord::int) as ords,
           array_agg(i.at) as ats, array_agg(i.status) as statuses, array_agg(i.error) as errors,
           md5(string_agg(coalesce(i.tx, i.named::text) || ':' || i.status, ',' order by i.ord)) as digest
      from unnest(p_call, p_queue_id, p_partition_id, p_group, p_group_id, p_lease_id, p_transaction_id, p_offset, p_status,
                  p_error, p_at, p_verdict)
           with ordinality i(call, queue_id, partition_id, grp, group_id, lease, tx, named, status, error, at, verdict, ord)
     where i.verdict is null
     group by 1, 2, 3, 4, 5
    having bool_or(i.status <> 'completed')
     order by 1, 2, 3, 5
  loop
    select q.* into v_queue from queue q where q.id = v_set.queue_id;
    select l.* into v_lane from lane l
     where l.queue_id = v_set.queue_id and l.group_id = v_set.group_id and l.partition_id = v_set.partition_id;
    if v_lane.committed is null then
      v_lane.committed := lockstep._resolve_cursor(v_set.queue_id, v_set.partition_id,
        (select g.starts_at from consumer_group g where g.queue_id = v_set.queue_id and g.id = v_set.group_id));
    end if;
    v_settled := lockstep._settle(v_queue, v_set.grp, v_lane, v_set.ats, v_set.statuses, v_set.errors, v_set.lease, v_set.digest,
      p_now, p_clear);
    return query
      select u.ord, v_settled.released, u.at = any (v_settled.buried) from unnest(v_set.ords, v_set.ats) u(ord, at);
  end loop;
end
$$;
