-- purpose: locks nodes in the one order: by run, the run's own node first, then by ordinal (parents before children)
-- locks in order: node (run, ordinal)
-- raises: nothing
-- idempotent how: locks only
-- index used: node_pkey
create or replace function lockstep._lock_nodes(p_runs uuid[], p_ordinals int[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_key record;
begin
  if 0 = all (p_ordinals) then
    perform 1 from node n where n.run_id = any (p_runs) and n.ordinal = 0 order by n.run_id for no key update;
    return;
  end if;
  for v_key in select distinct i.run_id, i.ordinal from unnest(p_runs, p_ordinals) i(run_id, ordinal) order by 1, 2 loop
    perform 1 from node n where n.run_id = v_key.run_id and n.ordinal = v_key.ordinal for no key update;
  end loop;
end
$$;
