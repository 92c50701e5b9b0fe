-- purpose: open runs whose parent was cancelled, failed or removed: they are to be cancelled too
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_child_run
create or replace function lockstep.orphan_runs(p_limit int) returns table (run_id uuid)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select n.run_id from node n
     where n.parent_run is not null and n.finished_at is null
       and not exists (select 1 from node p where p.run_id = n.parent_run and p.ordinal = 0 and p.state not in ('cancelled', 'failed'))
     order by n.parent_run, n.run_id limit p_limit;
end
$$;
