-- purpose: the nodes of a run with what they brought, for its result and for people
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_pkey
create or replace function lockstep.run_nodes(p_run uuid)
returns table (ordinal int, name text, kind text, state text, action text, item_of int, item_key text, on_failure text, attempt int, output text,
               error text, progress text, finished_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select n.ordinal, n.name, n.kind,
           case when n.finished_at is null and n.lease_expires_at > c.now then 'running' else n.state end, n.action,
           case when n.kind = 'item' then n.children[1] end, case when n.kind = 'item' then n.run_key end, n.on_failure, n.attempt, n.output,
           n.error, n.progress, lockstep.instant_text(n.finished_at)
      from node n, (select lockstep.clock() as now) c
     where n.run_id = p_run and n.ordinal > 0 order by n.ordinal;
end
$$;
