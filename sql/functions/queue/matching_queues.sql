-- purpose: names of live queues for a discovery pop, by priority, then name; a null label matches all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name
create or replace function lockstep.matching_queues(p_namespace text, p_task text)
returns table (name text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select q.name
    from queue q
   where q.deleted_at is null and (p_namespace is null or q.namespace = p_namespace) and (p_task is null or q.task = p_task)
   order by q.priority desc, q.name
$$;
