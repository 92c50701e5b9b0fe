-- purpose: sends a signal to a run; it is kept until a step takes it
-- locks in order: node 0 of the run
-- raises: LS425 isolation_not_supported
-- idempotent how: each call is one signal
-- index used: node_pkey
create or replace function lockstep.signal_run(p_run uuid, p_name text, p_payload text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  if not found then
    return 'not_found';
  end if;
  if v_node.finished_at is not null then
    return v_node.state;
  end if;
  v_now := lockstep.clock();
  insert into signal (run_id, name, payload, created_at) values (p_run, p_name, p_payload, v_now);
  if v_node.lease_id is null and v_node.kind = 'flow' then
    update node n set available_at = least(n.available_at, v_now) where n.run_id = p_run and n.ordinal = 0;
  end if;
  return 'ok';
end
$$;
