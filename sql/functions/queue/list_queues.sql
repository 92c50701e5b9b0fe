-- purpose: live queues with their options and counts, by name; a null filter matches all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name
create or replace function lockstep.list_queues(
  p_queue text default null, p_namespace text default null, p_task text default null)
returns table (id int, name text, namespace text, task text, created_at text, options json, partitions bigint, total bigint,
  pending bigint, processing bigint, completed bigint, dead_letter bigint)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select q.id, q.name, q.namespace, q.task, lockstep.instant_text(q.created_at), lockstep.queue_options(q),
         c.partitions, c.total, c.pending, c.processing, c.completed, c.dead_letter
    from queue q
   cross join lateral lockstep.queue_counts(q.id) c
   where q.deleted_at is null and (p_queue is null or q.name = p_queue)
     and (p_namespace is null or q.namespace = p_namespace) and (p_task is null or q.task = p_task)
   order by q.name
$$;
