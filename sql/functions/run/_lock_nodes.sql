-- purpose: locks nodes in the one order: by run, the run's own node first, then by ordinal (parents before children)
-- locks in order: node (run, ordinal)
-- raises: nothing
-- idempotent how: locks only
-- index used: node_pkey
-- The sorted keys are the outer side of a nested loop, because nothing else is possible: each is locked in its turn.
create or replace function lockstep._lock_nodes(p_runs uuid[], p_ordinals int[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if 0 = all (p_ordinals) then
    perform 1 from node n where n.run_id = any (p_runs) and n.ordinal = 0 order by n.run_id for no key update;
    return;
  end if;
  perform 1
     from (select distinct i.run_id, i.ordinal from unnest(p_runs, p_ordinals) i(run_id, ordinal) order by 1, 2) k
    cross join lateral (
      select 1 from node n where n.run_id = k.run_id and n.ordinal = k.ordinal for no key update) l;
end
$$;
