-- purpose: lets a run of code wait without a worker: for an instant, for signals or for what it called; spends nothing
-- locks in order: node 0 of the run
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it; a sleep that is recorded keeps its end
-- index used: node_pkey, step_pkey, signal_pkey
-- An instant is recorded once, at the first visit: a retry does not start a sleep anew. v_due null: until somebody wakes it.
create or replace function lockstep.suspend(
  p_run uuid, p_lease_id text, p_sleep_name text[], p_sleep_ms bigint[], p_signal_step text[], p_signal_name text[],
  p_signal_ms bigint[], p_called int[], p_child uuid[]) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
  v_due timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    return 'lease_lost';
  end if;
  insert into step (run_id, name, state, due_at, created_at)
    select p_run, i.name, 'sleeping', v_now + make_interval(secs => i.ms / 1000.0), v_now from unnest(p_sleep_name, p_sleep_ms) i(name, ms)
    union all
    select p_run, i.name, 'waiting', v_now + make_interval(secs => i.ms / 1000.0), v_now from unnest(p_signal_step, p_signal_ms) i(name, ms)
    on conflict (run_id, name) do nothing;
  select min(s.due_at) into v_due from step s
   where s.run_id = p_run and (s.name = any (p_sleep_name) or s.name = any (p_signal_step));
  -- In statements after the lock: what came between the code's look and this.
  if exists (select 1 from signal s where s.run_id = p_run and s.taken_by is null and s.name = any (p_signal_name))
     or exists (select 1 from node n where n.run_id = p_run and n.ordinal = any (p_called) and n.finished_at is not null)
     or exists (select 1 from unnest(p_child) c(id) cross join lateral (
          select 1 from node n where n.run_id = c.id and n.ordinal = 0 and n.finished_at is not null limit 1) e) then
    v_due := v_now;
  end if;
  update node n
     set state = 'sleeping', available_at = v_due, lease_id = null, lease_expires_at = null, attempt = n.attempt - 1,
         -- It came to a wait: the crash budget is for no progress at all.
         crashes = 0
   where n.run_id = p_run and n.ordinal = 0;
  return 'ok';
end
$$;
