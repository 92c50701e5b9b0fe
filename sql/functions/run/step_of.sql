-- purpose: what became of a step whose COMMIT was not answered: waits for it if it still runs, then reads the step's row
-- locks in order: node 0 of the run
-- raises: nothing
-- idempotent how: changes nothing
-- index used: node_pkey, step_pkey
create or replace function lockstep.step_of(p_run uuid, p_lease_id text, p_name text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
begin
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  -- In a later statement: what the lost transaction left.
  return case when exists (select 1 from step s where s.run_id = p_run and s.name = p_name and s.lease_id = p_lease_id) then 'done'
              when v_node.lease_id = p_lease_id then 'held' else 'lost' end;
end
$$;
