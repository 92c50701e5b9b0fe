-- purpose: the lanes of one group on all its live queues, those with work first; at most p_limit of a queue
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_name_once, lane_pkey, partition_pkey, message_pkey
create or replace function lockstep.group_detail(p_group text, p_limit int default 100)
returns table (queue text, partition text, lease_id text, committed bigint, behind bigint, lag_seconds numeric, leased boolean,
  lease_expires_at text, failures int, crashes int, conflation boolean)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with clock as materialized (select lockstep.clock() as now)
  select q.name, p.name, l.lease_id, l.committed, p.next_offset - l.cursor as behind,
         (select greatest(extract(epoch from c.now - m.created_at), 0) from message m
           where m.queue_id = q.id and m.partition_id = p.id and m."offset" >= l.cursor order by m."offset" limit 1) as seconds,
         coalesce(l.lease_expires_at > c.now, false) as leased, lockstep.instant_text(l.lease_expires_at), l.failures, l.crashes,
         g.conflation
    from clock c
   cross join queue q
    join consumer_group g on g.queue_id = q.id and g.name = p_group
   cross join lateral (
     select l.*, greatest(p.log_start, coalesce(l.committed, p.log_start)) as cursor
       from (
         (select * from lane w where w.queue_id = q.id and w.group_id = g.id and w.available_at is not null
           order by w.available_at limit p_limit)
         union all
         (select * from lane d where d.queue_id = q.id and d.group_id = g.id and d.available_at is null
           order by d.partition_id limit p_limit)
         limit p_limit) l
       join partition p on p.queue_id = l.queue_id and p.id = l.partition_id) l
    join partition p on p.queue_id = q.id and p.id = l.partition_id
   where q.deleted_at is null
   order by q.name, p.name
$$;
