-- purpose: judges acks under their lanes' locks: which offset each names, and whether it may be carried out
-- locks in order: none beyond the lanes that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_pkey, partition_pkey, consumer_group_name_once, lane_pkey, message_tx_hash
-- Verdict: null = carry out, 'noop' = completed and below the cursor, any other text = refused with that text.
create or replace function lockstep._judge_acks(
  p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_now timestamptz)
returns table (nth int, group_id int, message_offset bigint, verdict text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_lane lane;
  v_offset bigint[] := p_offset;
begin
  -- A whole batch of one lane: its ids are found by one walk over the batch instead of one look-up each.
  if cardinality(p_offset) > 8 and array_position(p_transaction_id, null) is null and p_partition_id[1] = all (p_partition_id)
     and p_queue_id[1] = all (p_queue_id) and p_group[1] = all (p_group) and p_lease_id[1] = all (p_lease_id) then
    select l.* into v_lane from lane l
     where l.queue_id = p_queue_id[1] and l.partition_id = p_partition_id[1] and l.lease_id = p_lease_id[1]
       and l.group_id = (select g.id from consumer_group g where g.queue_id = p_queue_id[1] and g.name = p_group[1]);
    if v_lane.batch_end - v_lane.committed <= 4 * cardinality(p_offset) then
      v_offset := lockstep._offsets_in_batch(p_queue_id[1], p_partition_id[1], v_lane.committed, v_lane.batch_end, p_transaction_id);
    end if;
  end if;
  return query
  with item as materialized (
    select i.*, dense_rank() over (order by i.queue_id, i.partition_id, i.grp) as n
      from unnest(p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, v_offset, p_status)
           with ordinality i(queue_id, partition_id, grp, lease, tx, at, status, ord)
  ), line as materialized (
    select d.n, q.require_lease, p.id as partition_id, p.next_offset, g.id as group_id, l.lease_id, l.lease_expires_at, l.batch_end,
           -- What retention removed is committed.
           case when l.group_id is not null
                then greatest(p.log_start, coalesce(l.committed, lockstep._resolve_cursor(d.queue_id, d.partition_id, g.starts_at)))
                end as committed
      from (select distinct on (u.n) u.n, u.queue_id, u.partition_id, u.grp from item u order by u.n) d
      left join lateral (
        select q.require_lease from queue q where q.id = d.queue_id and q.deleted_at is null limit 1) q on true
      left join lateral (
        select p.id, p.next_offset, p.log_start from partition p
         where p.queue_id = d.queue_id and p.id = d.partition_id and q.require_lease is not null limit 1) p on true
      left join lateral (
        select g.id, g.starts_at from consumer_group g where g.queue_id = d.queue_id and g.name = d.grp limit 1) g on true
      left join lateral (
        select l.group_id, l.committed, l.batch_end, l.lease_id, l.lease_expires_at from lane l
         where l.queue_id = d.queue_id and l.group_id = g.id and l.partition_id = d.partition_id limit 1) l on true
  )
  select i.ord::int, l.group_id, r.at,
         case when l.partition_id is null then 'no partition ' || i.queue_id || lpad(i.partition_id::text, 12, '0')
              when l.committed is null then 'consumer not found'
              when i.lease is null and l.require_lease then 'this queue takes acks with a lease only'
              when i.lease is not null and not coalesce(l.lease_id = i.lease and l.lease_expires_at > p_now, false)
                then 'invalid or expired lease'
              when r.at is null or r.at >= l.next_offset or (i.lease is not null and r.at >= l.batch_end)
                then 'transaction is unresolvable, already committed, or acknowledgment is stale'
              when r.at < l.committed
                then case when i.status = 'completed' then 'noop'
                          else 'transaction is unresolvable, already committed, or acknowledgment is stale' end
         end
    from item i
    join line l on l.n = i.n
    left join lateral (
      -- An id may stand twice, outside the window: inside the leased batch first, then above the cursor.
      select m."offset" from message m
       where m.queue_id = i.queue_id and m.tx_hash = lockstep.tx_hash(i.partition_id, i.tx) and m.partition_id + 0 = i.partition_id
         and m.transaction_id = i.tx
       order by m."offset" >= l.committed and m."offset" < l.batch_end desc nulls last,
                m."offset" >= l.committed desc nulls last, m."offset"
       limit 1) m on i.at is null
   cross join lateral (select coalesce(i.at, m."offset") as at) r;
end
$$;
