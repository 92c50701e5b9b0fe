-- purpose: completes leased batches that are named whole and in order; what it does not carry out it changes nothing of
-- locks in order: partition, by SKIP LOCKED only, to clear drained lanes
-- raises: nothing
-- idempotent how: the caller holds the lanes; a batch whose lease was released is not carried out again
-- index used: queue_pkey, consumer_group_name_once, lane_pkey, message_pkey
-- The way of a worker that acks all it popped: one comparison of texts, the ids as lines, instead of a judgement per message.
create or replace function lockstep._settle_batches(
  p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_count int[],
  p_transaction_ids text[], p_now timestamptz)
returns table (nth int, lease_released boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_line record;
  v_released bigint[];
begin
  for v_line in
    with judged as (
      select i.ord, i.queue_id, g.id as group_id, i.partition_id, i.lease, i.ids, l.committed + i.n as cursor
        from unnest(p_queue_id, p_partition_id, p_group, p_lease_id, p_count, p_transaction_ids)
             with ordinality i(queue_id, partition_id, grp, lease, n, ids, ord)
       cross join lateral (select q.id from queue q where q.id = i.queue_id and q.deleted_at is null limit 1) q
       cross join lateral (select g.id from consumer_group g where g.queue_id = q.id and g.name = i.grp limit 1) g
       cross join lateral (
          select l.committed, l.batch_end from lane l
           where l.queue_id = i.queue_id and l.group_id = g.id and l.partition_id = i.partition_id
             and l.lease_id = i.lease and l.lease_expires_at > p_now
           limit 1) l
       where l.committed + i.n <= l.batch_end
         and i.ids = array_to_string(array(
           select m.transaction_id from message m
            where m.queue_id = i.queue_id and m.partition_id = i.partition_id
              and m."offset" >= l.committed and m."offset" < l.committed + i.n
            order by m."offset"), E'\n')
    )
    select j.queue_id, j.group_id, array_agg(j.ord::int order by j.partition_id) as ords,
           array_agg(j.partition_id order by j.partition_id) as partitions, array_agg(j.cursor order by j.partition_id) as cursors,
           array_agg(j.lease order by j.partition_id) as leases,
           -- As _settle_completed makes it, so that the same call said again is recognised.
           array_agg(md5(replace(j.ids, E'\n', ':completed,') || ':completed') order by j.partition_id) as digests
      from judged j group by 1, 2 order by 1, 2
  loop
    v_released := lockstep._advance(v_line.queue_id, v_line.group_id, v_line.partitions, v_line.cursors, v_line.leases,
      v_line.digests, p_now, true);
    return query
      select u.ord, u.partition_id = any (v_released) from unnest(v_line.ords, v_line.partitions) u(ord, partition_id);
  end loop;
end
$$;
