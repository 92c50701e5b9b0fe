-- purpose: starts the run of another workflow for a run of code, once, and answers how that one stands
-- locks in order: node 0 of the parent
-- raises: LS423 lease_lost, LS425 isolation_not_supported, LS404 not_found
-- idempotent how: the child's id is made from the parent's and the step's name: a repeat finds it
-- index used: node_pkey, step_pkey
create or replace function lockstep.start_child(
  p_run uuid, p_lease_id text, p_step text, p_child uuid, p_workflow text, p_kind text, p_version text, p_shape text, p_input text, p_max_attempts int,
  p_backoff_ms bigint, p_backoff_max_ms bigint, out state text, out output text, out error text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_child node;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    raise exception using errcode = 'LS423', detail = 'lease_lost', message = 'the lease of this run was lost: the child was not started';
  end if;
  -- So that the code's history tells of it, and a retry finds it.
  insert into step (run_id, name, state, output, created_at) values (p_run, p_step, 'called', p_child::text, v_now)
    on conflict (run_id, name) do nothing;
  select * into v_child from node n where n.run_id = p_child and n.ordinal = 0;
  if not found then
    perform lockstep.submit_joined(array[p_child], array[p_workflow], array[p_kind], array[p_version], array[p_shape], array[null::text],
      array[p_input], array[v_node.priority::int], array[null::bigint], array[null::text], array[null::bigint], array[p_max_attempts],
      array[p_backoff_ms], array[p_backoff_max_ms], array[null::text], array[null::int], array[null::bigint], array[p_run], array[0],
      '{}', '{}', '{}');
    state := 'pending';
    return;
  end if;
  state := case when v_child.finished_at is null then 'pending' else v_child.state end;
  output := v_child.output;
  error := v_child.error;
end
$$;
