-- purpose: records steps of many runs that wrote nothing of their own, each fenced by its run's token, in one commit
-- locks in order: node 0 of the runs, by run
-- raises: LS425 isolation_not_supported
-- idempotent how: a repeat under the same token answers ok
-- index used: node_pkey, step_pkey
-- p_state: done; of an action that the code called returned, or failed with the error as its output.
create or replace function lockstep.record_steps_joined(p_run uuid[], p_lease_id text[], p_name text[], p_state text[], p_output text[])
returns table (nth int, verdict text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_nodes(p_run, array_fill(0, array[cardinality(p_run)]));
  v_now := lockstep.clock();
  insert into step (run_id, name, state, output, lease_id, created_at)
    select i.run_id, i.name, i.state, i.output, i.lease_id, v_now
      from unnest(p_run, p_lease_id, p_name, p_state, p_output) i(run_id, lease_id, name, state, output)
     cross join lateral (select u.lease_id, u.lease_expires_at from node u where u.run_id = i.run_id and u.ordinal = 0 limit 1) n
     where n.lease_id = i.lease_id and n.lease_expires_at > v_now
    on conflict (run_id, name) do nothing;
  -- They came further than the last ones that died: the crash budget is for no progress at all.
  update node n set crashes = 0
    from unnest(p_run, p_lease_id) i(run_id, lease_id)
   where n.run_id = i.run_id and n.ordinal = 0 and n.lease_id = i.lease_id and n.lease_expires_at > v_now and n.crashes > 0;
  return query
    select i.ord::int,
           case when exists (select 1 from step s where s.run_id = i.run_id and s.name = i.name and s.lease_id = i.lease_id)
                then 'ok' else 'lease_lost' end
      from unnest(p_run, p_lease_id, p_name) with ordinality i(run_id, lease_id, name, ord);
end
$$;
