-- purpose: starts actions that code calls, as nodes of its run that any worker may take; a name called before answers its node
-- locks in order: node 0 of the run
-- raises: LS425 isolation_not_supported
-- idempotent how: one node per name; no row is answered when the token is lost
-- index used: node_pkey
create or replace function lockstep.call_nodes(
  p_run uuid, p_lease_id text, p_name text[], p_action text[], p_input text[], p_priority int[], p_max_attempts int[], p_backoff_ms bigint[],
  p_backoff_max_ms bigint[], p_limit_key text[], p_limit_max int[], p_limit_interval_ms bigint[], p_delay_ms bigint[]) returns table (nth int, ordinal int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
  v_last int;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    return;
  end if;
  select max(n.ordinal) into v_last from node n where n.run_id = p_run;
  insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms,
                    limit_key, limit_max, limit_interval_ms, children, on_failure, input, created_at)
    select p_run, v_last + row_number() over (order by i.ord), i.name, 'call', i.action, 'planned', i.action,
           coalesce(i.priority, v_node.priority), v_now + make_interval(secs => coalesce(i.delay_ms, 0) / 1000.0), coalesce(i.max_attempts, 5), coalesce(i.backoff_ms, 1000),
           coalesce(i.backoff_max_ms, 3600000), i.limit_key, i.limit_max, i.limit_interval_ms, array[0], 'continue', i.input, v_now
      from unnest(p_name, p_action, p_input, p_priority, p_max_attempts, p_backoff_ms, p_backoff_max_ms, p_limit_key, p_limit_max,
                  p_limit_interval_ms, p_delay_ms)
           with ordinality i(name, action, input, priority, max_attempts, backoff_ms, backoff_max_ms, limit_key, limit_max, limit_interval_ms, delay_ms, ord)
     where (select n.ordinal from node n where n.run_id = p_run and n.ordinal > 0 and n.name = i.name limit 1) is null;
  return query
    select i.ord::int, (select n.ordinal from node n where n.run_id = p_run and n.ordinal > 0 and n.name = i.name limit 1)
      from unnest(p_name) with ordinality i(name, ord);
end
$$;
