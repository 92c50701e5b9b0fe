-- purpose: messages of a queue that the slowest group has not passed (all that are kept when it has no group), for maxSize
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_pkey, lane_pkey
create or replace function lockstep._waiting(p_queue_id int) returns bigint
language sql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select coalesce(sum(p.next_offset - greatest(p.log_start, coalesce(
      (select min(coalesce(l.committed, p.log_start))
         from consumer_group g
         left join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p.id
        where g.queue_id = p_queue_id),
      p.log_start))), 0)::bigint
    from partition p
   where p.queue_id = p_queue_id
$$;
