-- purpose: writes how far a node has come, for people, while its token holds
-- locks in order: node
-- raises: LS425 isolation_not_supported
-- idempotent how: the last one counts
-- index used: node_pkey
create or replace function lockstep.set_progress(p_run uuid, p_ordinal int, p_lease_id text, p_progress text) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_node from node n where n.run_id = p_run and n.ordinal = p_ordinal for no key update;
  v_now := lockstep.clock();
  update node n set progress = p_progress
   where n.run_id = p_run and n.ordinal = p_ordinal and n.lease_id = p_lease_id and n.lease_expires_at > v_now;
  return found;
end
$$;
