-- purpose: locks lanes worth visiting and returns them: those due, oldest first, or the one of a named partition
-- locks in order: lane, by SKIP LOCKED only
-- raises: nothing
-- idempotent how: locks only
-- index used: lane_due, lane_pkey
create or replace function lockstep._claimable(
  p_queue_id int, p_group_id int, p_partition_id bigint, p_floor timestamptz, p_now timestamptz, p_limit int)
returns setof lockstep.lane
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  if p_partition_id is null then
    return query
      select * from lane l
       where l.queue_id = p_queue_id and l.group_id = p_group_id
         and l.available_at >= p_floor and l.available_at <= p_now
       order by l.available_at
       limit p_limit
         for no key update skip locked;
  else
    return query
      select * from lane l
       where l.queue_id = p_queue_id and l.group_id = p_group_id and l.partition_id = p_partition_id
         for no key update skip locked;
  end if;
end
$$;
