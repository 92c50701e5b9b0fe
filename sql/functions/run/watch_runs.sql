-- purpose: of many runs that somebody waits for, those that have ended
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_pkey
create or replace function lockstep.watch_runs(p_run uuid[]) returns table (nth int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select i.ord::int
      from unnest(p_run) with ordinality i(run_id, ord)
     cross join lateral (select 1 from node n where n.run_id = i.run_id and n.ordinal = 0 and n.finished_at is not null limit 1) n;
end
$$;
