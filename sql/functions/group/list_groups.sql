-- purpose: groups of live queues with their backlog; p_queue null: of all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_pkey, lane_due, message_pkey
-- The time lag is that of the oldest message at a cursor, looked for on the thousand lanes that have been due longest.
create or replace function lockstep.list_groups(p_queue text default null)
returns table (name text, queue text, created_at text, subscription_mode text, starts_at text, cursors bigint, pending bigint,
  lanes bigint, leased bigint, lag_seconds numeric, conflation boolean)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with clock as materialized (select lockstep.clock() as now)
  select g.name, q.name, lockstep.instant_text(g.created_at), g.subscription_mode,
         case when g.starts_at > '-infinity' then lockstep.instant_text(g.starts_at) end,
         (select count(*) from lane l where l.queue_id = q.id and l.group_id = g.id) as cursors,
         d.pending, d.lanes, d.leased,
         coalesce((
           select greatest(extract(epoch from c.now - min(m.created_at)), 0)
             from (select l.partition_id, l.committed from lane l
                    where l.queue_id = q.id and l.group_id = g.id and l.available_at is not null
                    order by l.available_at limit 1000) l
            cross join lateral (
              select m.created_at from message m
               where m.queue_id = q.id and m.partition_id = l.partition_id and m."offset" >= coalesce(l.committed, 0)
                 and m.created_at >= g.starts_at
               order by m."offset" limit 1) m), 0) as seconds,
         g.conflation
    from clock c
   cross join queue q
   cross join lateral lockstep.group_depth(q.id) d
    join consumer_group g on g.queue_id = q.id and g.id = d.group_id
   where q.deleted_at is null and (p_queue is null or q.name = p_queue)
   order by g.name, q.name
$$;
