-- purpose: what a group has before it on a live queue: first a row of totals (partition null), then the partitions with most
--   waiting
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, consumer_group_name_once, lane_due, partition_pkey
create or replace function lockstep.queue_depth(p_queue text, p_group text, p_limit int default 100)
returns table (partition text, pending bigint, partitions bigint, conflation boolean)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with q as materialized (
    select q.id from queue q where q.name = p_queue and q.deleted_at is null
  ), d as materialized (
    select d.group_id, d.pending, d.lanes, g.conflation from q cross join lateral lockstep.group_depth(q.id) d
      join consumer_group g on g.queue_id = q.id and g.id = d.group_id
     where d.group_name = p_group
  )
  select null::text as partition, coalesce(d.pending, (select c.total from lockstep.queue_counts(q.id) c)) as pending,
         coalesce(d.lanes, (select count(*) from partition p where p.queue_id = q.id and p.next_offset > p.log_start)),
         coalesce(d.conflation, false)
    from q
    left join d on true
  union all
  (select p.name, p.next_offset - greatest(p.log_start, coalesce(l.committed, p.log_start)), null, null
     from q
     join d on true
     join lane l on l.queue_id = q.id and l.group_id = d.group_id and l.available_at is not null
     join partition p on p.queue_id = q.id and p.id = l.partition_id
    where p.next_offset > greatest(p.log_start, coalesce(l.committed, p.log_start))
    order by 2 desc, 1
    limit p_limit)
$$;
