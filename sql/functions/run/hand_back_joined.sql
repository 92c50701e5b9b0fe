-- purpose: gives nodes back at once and spends nothing: the worker shuts down or does not know the action
-- locks in order: node (run, ordinal), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: a lapsed or taken over node is left as it is
-- index used: node_pkey
create or replace function lockstep.hand_back_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[]) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_node node;
  v_count int := 0;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_nodes(p_run, p_ordinal);
  v_now := lockstep.clock();
  for i in 1 .. cardinality(p_run) loop
    update node n set lease_id = null, lease_expires_at = null, available_at = v_now, attempt = n.attempt - 1
     where n.run_id = p_run[i] and n.ordinal = p_ordinal[i] and n.lease_id = p_lease_id[i] and n.lease_expires_at > v_now
    returning * into v_node;
    if found then
      v_count := v_count + 1;
      perform lockstep._touch_limit(v_node, v_now);
    end if;
  end loop;
  return v_count;
end
$$;
