-- purpose: makes the drained lanes of partitions that just received messages due, at p_at; the caller holds the partitions
-- locks in order: lane (partition, group)
-- raises: nothing
-- idempotent how: a lane that is due, leased or backing off is left as it is
-- index used: consumer_group_pkey, lane_pkey
-- While the partition is held no lane of it can become drained: clearing needs the same partition lock.
create or replace function lockstep._wake(p_queue_id int, p_partition_ids bigint[], p_at timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_groups int[];
  v_unfinished boolean;
begin
  select array_agg(g.id), bool_or(g.backfill_until is not null) into v_groups, v_unfinished
    from consumer_group g where g.queue_id = p_queue_id;
  if v_groups is null then
    return;
  end if;
  perform 1 from lane l
    where l.queue_id = p_queue_id and l.group_id = any (v_groups) and l.partition_id = any (p_partition_ids)
      and l.available_at is null
    order by l.partition_id, l.group_id
      for no key update;
  if found then
    update lane l set available_at = p_at
     where l.queue_id = p_queue_id and l.group_id = any (v_groups) and l.partition_id = any (p_partition_ids)
       and l.available_at is null;
  end if;
  -- A group whose lanes are still being made: this partition gets its lane now.
  if v_unfinished then
    insert into lane (queue_id, group_id, partition_id, available_at)
      select p_queue_id, g.id, p, p_at
        from consumer_group g cross join unnest(p_partition_ids) p
       where g.queue_id = p_queue_id and p > g.backfill_after and p <= g.backfill_until
       order by p, g.id
      on conflict do nothing;
  end if;
end
$$;
