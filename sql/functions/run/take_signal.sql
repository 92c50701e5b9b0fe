-- purpose: gives the oldest signal of a name to a step of code, or ends its wait at its timeout
-- locks in order: node 0 of the run
-- raises: LS425 isolation_not_supported
-- idempotent how: what a step received is recorded under its name
-- index used: node_pkey, step_pkey, signal_pkey
create or replace function lockstep.take_signal(p_run uuid, p_lease_id text, p_step text, p_signal text, out verdict text, out payload text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_step step;
  v_seq bigint;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    verdict := 'lease_lost';
    return;
  end if;
  select * into v_step from step s where s.run_id = p_run and s.name = p_step;
  if v_step.state = 'heard' then
    verdict := case when v_step.output is null then 'timeout' else 'ok' end;
    payload := v_step.output;
    return;
  end if;
  select s.seq, s.payload into v_seq, payload from signal s
   where s.run_id = p_run and s.name = p_signal and s.taken_by is null order by s.seq limit 1;
  if found then
    verdict := 'ok';
    update signal s set taken_by = p_step where s.run_id = p_run and s.seq = v_seq;
  elsif v_step.due_at <= v_now then
    verdict := 'timeout';
  else
    verdict := 'none';
    return;
  end if;
  insert into step (run_id, name, state, output, created_at) values (p_run, p_step, 'heard', payload, v_now)
    on conflict (run_id, name) do update set state = 'heard', output = excluded.output;
end
$$;
