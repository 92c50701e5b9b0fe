-- purpose: finishes jobs and code with their outputs, each fenced by its token; answers the places, from 1, whose lease was lost
-- locks in order: node (run), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it; a repeat under the same token is not lost and changes nothing
-- index used: node_pkey
-- As complete_joined of nothing but runs' own nodes, with an answer that is empty almost always instead of a row each.
create or replace function lockstep.complete_runs_joined(p_run uuid[], p_lease_id text[], p_output text[]) returns int[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_nodes(p_run, array_fill(0, array[cardinality(p_run)]));
  return lockstep._complete_runs(p_run, p_lease_id, p_output, lockstep.clock());
end
$$;
