-- purpose: the runs that a run started and that have not ended
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_child_run
create or replace function lockstep.child_runs(p_run uuid) returns table (run_id uuid)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query select n.run_id from node n where n.parent_run = p_run and n.finished_at is null;
end
$$;
