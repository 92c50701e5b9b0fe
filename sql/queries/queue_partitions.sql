-- purpose: partitions of a live queue by name, with counts against the slowest group of each; $1 queue, $2 last name of the
--   page before ('' at first), $3 rows
-- index used: queue_live_name, partition_name_once, lane_pkey, message_pkey, dead_letter_message
with clock as materialized (select lockstep.clock() as now)
select q.id, p.id, p.name, lockstep.instant_text(p.created_at), p.next_offset - p.log_start as total,
       greatest(p.next_offset - s.cursor - s.leased, 0) as pending, s.leased as processing, s.cursor - p.log_start as completed,
       (select count(*) from lockstep.dead_letter d where d.queue_id = q.id and d.partition_id = p.id) as dead_letter,
       s.cursor, lockstep.instant_text(p.last_pushed_at),
       (select lockstep.instant_text(m.created_at) from lockstep.message m
         where m.queue_id = q.id and m.partition_id = p.id and m."offset" >= p.log_start order by m."offset" limit 1),
       lockstep.instant_text(p.last_created_at)
  from clock c
 cross join lockstep.queue q
 cross join lateral (
   select * from lockstep.partition p where p.queue_id = q.id and p.name > $2 order by p.name limit $3::int) p
 cross join lateral (
   -- The slowest group decides; a lane that does not exist yet stands at the oldest message.
   select greatest(p.log_start, coalesce(min(coalesce(l.committed, p.log_start)), p.log_start)) as cursor,
          coalesce(max(case when l.lease_expires_at > c.now then greatest(l.batch_end - l.committed, 0) end), 0) as leased
     from lockstep.consumer_group g
     left join lockstep.lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p.id
    where g.queue_id = q.id) s
 where q.name = $1 and q.deleted_at is null
 order by p.name
