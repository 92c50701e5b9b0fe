-- purpose: partitions of a live queue by name, with counts against the slowest group of each;
--   p_after is the last name of the page before, '' at first
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_name_once, lane_pkey, message_pkey, dead_letter_message
create or replace function lockstep.queue_partitions(p_queue text, p_after text default '', p_limit int default 100)
returns table (queue_id int, partition_id bigint, name text, created_at text, total bigint, pending bigint, processing bigint,
  completed bigint, dead_letter bigint, cursor bigint, last_pushed_at text, oldest_at text, newest_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with clock as materialized (select lockstep.clock() as now)
  select q.id, p.id, p.name, lockstep.instant_text(p.created_at), p.next_offset - p.log_start as total,
         greatest(p.next_offset - s.cursor - s.leased, 0) as pending, s.leased as processing, s.cursor - p.log_start as completed,
         coalesce(b.buried, 0) as dead_letter,
         s.cursor, lockstep.instant_text(p.last_pushed_at),
         (select lockstep.instant_text(m.created_at) from message m
           where m.queue_id = q.id and m.partition_id = p.id and m."offset" >= p.log_start order by m."offset" limit 1),
         lockstep.instant_text(p.last_created_at)
    from clock c
   cross join queue q
   cross join lateral (
     select * from partition p where p.queue_id = q.id and p.name > p_after order by p.name limit p_limit) p
   cross join lateral (
     -- The slowest group decides; a lane that does not exist yet stands at the oldest message.
     select greatest(p.log_start, coalesce(min(coalesce(l.committed, p.log_start)), p.log_start)) as cursor,
            coalesce(max(case when l.lease_expires_at > c.now then greatest(l.batch_end - l.committed, 0) end), 0) as leased
       from consumer_group g
       left join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p.id
      where g.queue_id = q.id) s
    left join (
      select d.partition_id, count(*) as buried from dead_letter d
       where d.queue_id = (select n.id from queue n where n.name = p_queue and n.deleted_at is null)
       group by d.partition_id) b on b.partition_id = p.id
   where q.name = p_queue and q.deleted_at is null
   order by p.name
$$;
