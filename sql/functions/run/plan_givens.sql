-- purpose: what planners need: the outputs of the nodes whose names they ask for, of many runs
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_pkey
-- A map answers one row per item, with its key; a node that was skipped answers none.
create or replace function lockstep.plan_givens(p_run uuid[], p_ordinal int[])
returns table (nth int, node_ordinal int, item_key text, ok boolean, output text, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select i.ord::int, i.ordinal, case when n.kind = 'item' then n.run_key end, n.state = 'done', n.output, n.error
      from unnest(p_run, p_ordinal) with ordinality i(run_id, ordinal, ord)
     cross join lateral (select * from node u where u.run_id = i.run_id and u.ordinal = i.ordinal limit 1) m
     cross join lateral (
       select * from node u where u.run_id = i.run_id and u.ordinal = i.ordinal and u.kind <> 'map'
       union all
       select * from node u where m.kind = 'map' and u.run_id = i.run_id and u.kind = 'item' and u.children[1] = i.ordinal) n
     where n.state in ('done', 'failed')
     order by i.ord, n.ordinal;
end
$$;
