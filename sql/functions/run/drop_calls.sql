-- purpose: cancels what code has called and waits for no more, so that it may end; answers how many calls, null when the token is lost
-- locks in order: node (run; node 0 first, then by ordinal), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it; what has ended is left as it is
-- index used: node_pkey
create or replace function lockstep.drop_calls(p_run uuid, p_lease_id text) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
  v_open int;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  v_now := lockstep.clock();
  if not found or v_node.lease_id is distinct from p_lease_id or coalesce(v_node.lease_expires_at <= v_now, true) then
    return null;
  end if;
  perform 1 from node n where n.run_id = p_run and n.ordinal > 0 and n.finished_at is null order by n.ordinal for no key update;
  get diagnostics v_open = row_count;
  perform lockstep._drop_nodes(p_run, lockstep.clock());
  return v_open;
end
$$;
