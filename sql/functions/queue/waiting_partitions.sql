-- purpose: partitions of live queues with most waiting before the slowest group of each, and how old the oldest of that is
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, lane_due, partition_pkey, message_pkey
-- Drained lanes have no instant and are not visited; of a queue without a group everything kept waits. A partition whose lane a new
-- group's passes have not made yet shows what the other groups have before them.
create or replace function lockstep.waiting_partitions(p_queue text default null, p_limit int default 100)
returns table (queue text, queue_id int, partition_id bigint, name text, pending bigint, processing bigint, lag_seconds double precision)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with clock as materialized (select lockstep.clock() as now),
  live as materialized (
    select q.id, q.name, exists (select from consumer_group g where g.queue_id = q.id) as grouped
      from queue q where q.deleted_at is null and (p_queue is null or q.name = p_queue)
  ), behind as (
    select b.queue_id, b.partition_id, min(b.cursor) as cursor, max(b.leased) as leased
      from (
        select l.queue_id, l.partition_id,
               greatest(p.log_start, case
                 when l.committed is not null then l.committed
                 when g.starts_at = '-infinity' then p.log_start
                 else lockstep._resolve_cursor(p.queue_id, p.id, g.starts_at) end) as cursor,
               case when l.lease_expires_at > c.now then greatest(l.batch_end - l.committed, 0) else 0 end as leased
          from live v
          join consumer_group g on g.queue_id = v.id
          join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.available_at is not null
          join partition p on p.queue_id = l.queue_id and p.id = l.partition_id
         cross join clock c) b
     group by b.queue_id, b.partition_id
    union all
    select p.queue_id, p.id, p.log_start, 0 from live v join partition p on p.queue_id = v.id where not v.grouped
  ), most as (
    select b.*, p.name, p.next_offset - b.cursor - b.leased as pending
      from behind b join partition p on p.queue_id = b.queue_id and p.id = b.partition_id
     where p.next_offset > b.cursor
     order by p.next_offset - b.cursor - b.leased desc, b.queue_id, b.partition_id
     limit p_limit
  )
  select v.name, m.queue_id, m.partition_id, m.name, greatest(m.pending, 0), m.leased,
         (select extract(epoch from c.now - k.created_at)::double precision from message k
           where k.queue_id = m.queue_id and k.partition_id = m.partition_id and k."offset" = m.cursor)
    from most m
    join live v on v.id = m.queue_id
   cross join clock c
   order by m.pending desc, v.name, m.name
$$;
