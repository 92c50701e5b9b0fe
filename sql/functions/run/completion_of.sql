-- purpose: what became of a completion whose COMMIT was not answered: waits for it if it still runs, then reads the token's row
-- locks in order: node
-- raises: nothing
-- idempotent how: changes nothing
-- index used: node_pkey
-- done: it was committed. held: it was not, and the lease still lives. lost: it was not, and cannot be any more.
create or replace function lockstep.completion_of(p_run uuid, p_ordinal int, p_lease_id text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_node node;
  v_now timestamptz;
begin
  select * into v_node from node n where n.run_id = p_run and n.ordinal = p_ordinal for no key update;
  v_now := lockstep.clock();
  return case when v_node.lease_id is distinct from p_lease_id then 'lost'
              when v_node.state = 'done' then 'done'
              when v_node.lease_expires_at > v_now then 'held' else 'lost' end;
end
$$;
