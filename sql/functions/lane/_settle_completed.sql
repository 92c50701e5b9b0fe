-- purpose: carries out judged acks of lanes on which only completed ones came: the cursor moves past the highest
-- locks in order: partition, by SKIP LOCKED only, to clear drained lanes
-- raises: nothing
-- idempotent how: the caller holds the lanes; a cursor only moves forward
-- index used: lane_pkey, partition_pkey
create or replace function lockstep._settle_completed(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group_id int[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_at bigint[], p_verdict text[], p_now timestamptz, p_clear boolean)
returns table (nth int, released boolean, dlq boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_line record;
  v_released bigint[];
begin
  -- Lanes of one queue and group at a time, so that the update names them by key.
  for v_line in
    with item as (
      select i.queue_id, i.group_id, i.partition_id, i.lease, i.at, i.ord::int as ord, i.status,
             coalesce(i.tx, i.named::text) || ':' || i.status as said,
             -- Of several calls the one that names the highest is the lane's last word, to be known if it is said again.
             i.call = first_value(i.call) over (partition by i.queue_id, i.group_id, i.partition_id order by i.at desc, i.ord) as closes
        from unnest(p_call, p_queue_id, p_partition_id, p_group_id, p_lease_id, p_transaction_id, p_offset, p_status, p_at, p_verdict)
             with ordinality i(call, queue_id, partition_id, group_id, lease, tx, named, status, at, verdict, ord)
       where i.verdict is null
    ), line as (
      select i.queue_id, i.group_id, i.partition_id, max(i.at) + 1 as cursor, min(i.lease) as lease, array_agg(i.ord) as ords,
             md5(string_agg(i.said, ',' order by i.ord) filter (where i.closes)) as digest
        from item i group by 1, 2, 3
      having bool_and(i.status = 'completed')
    )
    select l.queue_id, l.group_id, array_agg(l.partition_id order by l.partition_id) as partitions,
           array_agg(l.cursor order by l.partition_id) as cursors, array_agg(l.lease order by l.partition_id) as leases,
           array_agg(l.digest order by l.partition_id) as digests
      from line l group by 1, 2 order by 1, 2
  loop
    v_released := lockstep._advance(v_line.queue_id, v_line.group_id, v_line.partitions, v_line.cursors, v_line.leases,
      v_line.digests, p_now, p_clear);
    return query
      select i.ord::int, i.partition_id = any (v_released), false
        from unnest(p_queue_id, p_group_id, p_partition_id, p_verdict) with ordinality i(queue_id, group_id, partition_id, verdict, ord)
       where i.verdict is null and i.queue_id = v_line.queue_id and i.group_id = v_line.group_id
         and i.partition_id = any (v_line.partitions);
  end loop;
end
$$;
