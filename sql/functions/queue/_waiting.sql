-- purpose: messages of a queue that the slowest group has not passed (all that are kept when it has no group), for maxSize
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_pkey, lane_due, partition_pkey, lane_pkey
-- A partition whose lanes are all drained has nothing waiting and is not visited: the cost follows what waits, which maxSize
-- bounds, and not the partitions. A group whose lanes are still being made may lack some, so then all are counted.
create or replace function lockstep._waiting(p_queue_id int) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_groups int[];
  v_unfinished boolean;
  v_ids bigint[];
begin
  select array_agg(g.id), bool_or(g.backfill_until is not null) into v_groups, v_unfinished
    from consumer_group g where g.queue_id = p_queue_id;
  if v_groups is null or v_unfinished then
    v_ids := array(select p.id from partition p where p.queue_id = p_queue_id and p.next_offset > p.log_start);
  else
    v_ids := array(
      select distinct l.partition_id
        from unnest(v_groups) g(id)
       cross join lateral (
         select k.partition_id from lane k
          where k.queue_id = p_queue_id and k.group_id = g.id and k.available_at is not null
          order by k.available_at limit 9223372036854775807) l);
  end if;
  return (
    select coalesce(sum(p.next_offset - greatest(p.log_start, s.cursor)), 0)::bigint
      from partition p
     cross join lateral (
       select min(case when l.partition_id is not null and l.available_at is null then p.next_offset
                       else coalesce(l.committed, p.log_start) end) as cursor
         from unnest(v_groups) g(id)
         left join lane l on l.queue_id = p_queue_id and l.group_id = g.id and l.partition_id = p.id) s
     where p.queue_id = p_queue_id and p.id = any (v_ids));
end
$$;
