-- purpose: ends a run by its own node
-- locks in order: node (0 of the parent run)
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
create or replace function lockstep._end_run(p_root node, p_state text, p_output text, p_error text, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  update node n
     set state = p_state, output = p_output, error = p_error, finished_at = p_now, available_at = null,
         lease_expires_at = null
   where n.run_id = p_root.run_id and n.ordinal = 0;
  perform lockstep._tell_parent(p_root, p_now);
end
$$;
