-- purpose: records a named step of code as done: the last statement before COMMIT of the transaction that holds the step's own writes
-- locks in order: node 0 of the run
-- raises: LS423 lease_lost, also when the step is recorded already, so that the COMMIT that follows becomes a rollback;
--   LS425 isolation_not_supported
-- idempotent how: the token fences it, and a name is recorded once
-- index used: node_pkey, step_pkey
-- p_state: done, or returned of an action that the code called.
create or replace function lockstep.record_step(p_run uuid, p_lease_id text, p_name text, p_state text, p_output text) returns text
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
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    raise exception using errcode = 'LS423', detail = 'lease_lost', message = 'the lease of this run was lost: nothing of the step was committed';
  end if;
  insert into step (run_id, name, state, output, lease_id, created_at) values (p_run, p_name, p_state, p_output, p_lease_id, v_now)
    on conflict (run_id, name) do nothing;
  if not found then
    raise exception using errcode = 'LS423', detail = 'lease_lost', message = 'the step ' || p_name || ' was recorded before: nothing of it was committed';
  end if;
  if v_node.crashes > 0 then
    -- It came further than the last one that died: the crash budget is for no progress at all.
    update node n set crashes = 0 where n.run_id = p_run and n.ordinal = 0;
  end if;
  return 'ok';
end
$$;
