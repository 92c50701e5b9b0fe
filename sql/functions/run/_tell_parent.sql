-- purpose: tells the run that started this one that it ended
-- locks in order: node (0 of the parent run)
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
-- A parent never locks its children while it holds its own node, so child before parent is the one order. It is locked also while it
-- is held: it may be about to let go, having seen this child still at work.
create or replace function lockstep._tell_parent(p_node node, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_node.parent_run is not null then
    perform 1 from node n where n.run_id = p_node.parent_run and n.ordinal = 0 for no key update;
    update node n set available_at = p_now
     where n.run_id = p_node.parent_run and n.ordinal = 0 and n.finished_at is null and n.lease_id is null;
  end if;
end
$$;
