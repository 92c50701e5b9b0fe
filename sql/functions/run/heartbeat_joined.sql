-- purpose: moves the end of live node leases to now + the lease; answers which still hold and which runs were cancelled
-- locks in order: node (run, ordinal)
-- raises: LS425 isolation_not_supported
-- idempotent how: the end only moves forward; a lapsed lease is never brought back
-- index used: node_pkey
-- A node that stands among the due ones is moved to the end of its lease: once, not at every beat, because each touches the
-- index. One with a limit was moved when it was claimed, and is moved on by whoever visits it at the old end.
create or replace function lockstep.heartbeat_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_lease_ms bigint) returns table (nth int, held boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_end timestamptz;
  v_held boolean;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_nodes(p_run, p_ordinal);
  v_now := lockstep.clock();
  v_end := v_now + make_interval(secs => p_lease_ms / 1000.0);
  for i in 1 .. cardinality(p_run) loop
    update node n
       set lease_expires_at = greatest(n.lease_expires_at, v_end),
           available_at = case when n.limit_key is null and n.available_at <= v_now then v_end else n.available_at end
     where n.run_id = p_run[i] and n.ordinal = p_ordinal[i] and n.lease_id = p_lease_id[i] and n.lease_expires_at > v_now;
    v_held := found;
    return query select i, v_held;
  end loop;
end
$$;
