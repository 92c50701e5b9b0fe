-- purpose: records a named step of code as done, in the transaction that holds the step's own writes
-- locks in order: node 0 of the run
-- raises: LS425 isolation_not_supported
-- idempotent how: one row per name; a step that is recorded answers exists
-- index used: node_pkey, step_pkey
create or replace function lockstep.record_step(p_run uuid, p_lease_id text, p_name text, p_output text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or v_node.lease_expires_at <= v_now then
    return 'lease_lost';
  end if;
  insert into step (run_id, name, state, output, created_at) values (p_run, p_name, 'done', p_output, v_now)
    on conflict (run_id, name) do nothing;
  return case when found then 'ok' else 'exists' end;
end
$$;
