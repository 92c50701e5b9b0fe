-- purpose: leases partitions of a stream's source that its group has read to the end, with an empty batch: whoever holds one closes
--   there alone what is ripe
-- locks in order: lane (queue, partition, group), by SKIP LOCKED only
-- raises: LS425 isolation_not_supported
-- idempotent how: a partition is leased once; an empty batch that lapses costs nothing
-- index used: stream_query_pkey, partition_pkey, consumer_group_name_once, lane_pkey
-- p_group null: streams.<name of the query>. No row at all: no such query. status: claimed; busy (another holds it); backlog (messages
--   wait for the group, its next pop brings them); missing (no such partition).
create or replace function lockstep.stream_claim(
  p_query_id int, p_group text, p_queue_id int[], p_partition_id bigint[], p_lease_id text, p_lease_seconds int)
returns table (nth int, partition_name text, status text, lease_expires_at text, now_ms bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_group_name text;
  v_item record;
  v_group consumer_group;
  v_lane lane;
  v_head bigint;
  v_committed bigint;
  v_end timestamptz;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select coalesce(p_group, 'streams.' || q.name) into v_group_name from stream_query q where q.id = p_query_id and q.wiped_at is null;
  if not found then
    return;
  end if;
  for v_item in
    select i.ord::int as ord, i.queue_id, i.partition_id, p.name
      from unnest(p_queue_id, p_partition_id) with ordinality i(queue_id, partition_id, ord)
      left join queue q on q.id = i.queue_id and q.deleted_at is null
      left join partition p on p.queue_id = q.id and p.id = i.partition_id
     order by i.queue_id, i.partition_id, i.ord
  loop
    nth := v_item.ord;
    partition_name := v_item.name;
    lease_expires_at := null;
    now_ms := floor(extract(epoch from lockstep.clock()) * 1000);
    if v_item.name is null then
      status := 'missing';
      return next;
      continue;
    end if;
    select g.* into v_group from consumer_group g where g.queue_id = v_item.queue_id and g.name = v_group_name;
    select l.* into v_lane from lane l
     where l.queue_id = v_item.queue_id and l.group_id = v_group.id and l.partition_id = v_item.partition_id
       for no key update skip locked;
    if v_lane.group_id is null then
      -- A lane that is there and locked is in somebody's hands; without one nothing was ever read.
      status := case when exists (select 1 from lane l where l.queue_id = v_item.queue_id and l.group_id = v_group.id
                                     and l.partition_id = v_item.partition_id) then 'busy'
                     else 'backlog' end;
    else
      v_now := lockstep.clock();
      select p.next_offset, greatest(p.log_start, coalesce(v_lane.committed, lockstep._resolve_cursor(p.queue_id, p.id, v_group.starts_at)))
        into v_head, v_committed
        from partition p where p.queue_id = v_item.queue_id and p.id = v_item.partition_id;
      if v_lane.lease_expires_at > v_now then
        status := 'busy';
      elsif v_head > v_committed then
        status := 'backlog';
      else
        v_end := v_now + make_interval(secs => p_lease_seconds);
        update lane l
           set committed = v_committed, batch_end = v_committed, lease_id = p_lease_id, lease_expires_at = v_end, available_at = v_end
         where l.queue_id = v_item.queue_id and l.group_id = v_group.id and l.partition_id = v_item.partition_id;
        status := 'claimed';
        lease_expires_at := lockstep.instant_text(v_end);
      end if;
    end if;
    return next;
  end loop;
end
$$;
