-- purpose: what a group has before it on a live queue: first a row of totals (partition null), then the partitions with most
--   waiting; $1 queue, $2 group, $3 rows
-- index used: queue_live_name, consumer_group_name_once, lane_due, partition_pkey
with q as materialized (
  select q.id from lockstep.queue q where q.name = $1 and q.deleted_at is null
), d as materialized (
  select d.group_id, d.pending, d.lanes from q cross join lateral lockstep.group_depth(q.id) d where d.group_name = $2
)
select null::text as partition, coalesce(d.pending, c.total) as pending,
       coalesce(d.lanes, (select count(*) from lockstep.partition p where p.queue_id = q.id and p.next_offset > p.log_start))
  from q
 cross join lateral lockstep.queue_counts(q.id) c
  left join d on true
union all
(select p.name, p.next_offset - greatest(p.log_start, coalesce(l.committed, p.log_start)), null
   from q
   join d on true
   join lockstep.lane l on l.queue_id = q.id and l.group_id = d.group_id and l.available_at is not null
   join lockstep.partition p on p.queue_id = q.id and p.id = l.partition_id
  where p.next_offset > greatest(p.log_start, coalesce(l.committed, p.log_start))
  order by 2 desc, 1
  limit $3::int)
