-- purpose: one lane by names, its cursor resolved; partition_id null: no such partition, group_id null: no such group
-- locks in order: none; the caller holds the lane
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_name_once, lane_pkey, partition_pkey
create or replace function lockstep._lane(p_queue_id int, p_partition_id bigint, p_group text) returns lockstep.lane
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_lane lane;
  v_starts_at timestamptz;
begin
  select l.* into v_lane
    from consumer_group g
    join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p_partition_id
   where g.queue_id = p_queue_id and g.name = p_group;
  if not found then
    select p.id into v_lane.partition_id from partition p where p.queue_id = p_queue_id and p.id = p_partition_id;
    return v_lane;
  end if;
  if v_lane.committed is null then
    select g.starts_at into v_starts_at from consumer_group g where g.queue_id = p_queue_id and g.id = v_lane.group_id;
    v_lane.committed := lockstep._resolve_cursor(p_queue_id, p_partition_id, v_starts_at);
  end if;
  return v_lane;
end
$$;
