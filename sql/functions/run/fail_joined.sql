-- purpose: records failures of nodes, each fenced by its token: again after a pause while attempts remain, else for good
-- locks in order: node (run; node 0 first, then by ordinal), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it
-- index used: node_pkey
create or replace function lockstep.fail_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_error text[], p_retry boolean[], p_retry_after_ms bigint[])
returns table (nth int, verdict text, again boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_node node;
  v_pause interval;
begin
  perform lockstep._demand_read_committed();
  -- A failure for good may touch all of its run: node 0 and every unsettled node, in order. The counters it depends on move
  -- only under the token, so the look before the lock decides.
  perform lockstep._lock_nodes(array_agg(l.run_id), array_agg(l.ordinal))
     from (select i.run_id, i.ordinal from unnest(p_run, p_ordinal) i(run_id, ordinal)
           union
           select n.run_id, n.ordinal
             from unnest(p_run, p_ordinal, p_retry) i(run_id, ordinal, retry)
            cross join lateral (select o.failures, o.max_attempts from node o where o.run_id = i.run_id and o.ordinal = i.ordinal limit 1) o
            cross join lateral (select u.run_id, u.ordinal from node u where u.run_id = i.run_id and (u.ordinal = 0 or u.finished_at is null) limit 100000) n
            where not i.retry or o.failures + 1 >= o.max_attempts) l;
  v_now := lockstep.clock();
  for i in 1 .. cardinality(p_run) loop
    select * into v_node from node n where n.run_id = p_run[i] and n.ordinal = p_ordinal[i];
    nth := i;
    again := false;
    if not found or v_node.lease_id is distinct from p_lease_id[i] or coalesce(v_node.lease_expires_at <= v_now, true) then
      verdict := 'lease_lost';
    else
      verdict := 'ok';
      again := p_retry[i] and v_node.failures + 1 < v_node.max_attempts;
      if again then
        v_pause := coalesce(make_interval(secs => p_retry_after_ms[i] / 1000.0),
          lockstep._backoff(v_node.backoff_ms, v_node.backoff_max_ms, v_node.failures + 1));
        update node n
           set failures = n.failures + 1, error = p_error[i], available_at = v_now + v_pause, lease_id = null, lease_expires_at = null
         where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
        perform lockstep._touch_limit(v_node, v_now);
      else
        update node n set failures = n.failures + 1 where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
        perform lockstep._fail_node(v_node, p_error[i], v_now);
      end if;
    end if;
    return next;
  end loop;
end
$$;
