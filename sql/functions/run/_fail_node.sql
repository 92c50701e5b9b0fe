-- purpose: a node failed for good: its policy decides what becomes of its run
-- locks in order: node (run, ordinal): the caller holds node 0 and the node; limit
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
-- Code that called a node sees its failure where it called it and decides by itself.
create or replace function lockstep._fail_node(p_node node, p_error text, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_root node;
begin
  select * into v_root from node n where n.run_id = p_node.run_id and n.ordinal = 0;
  if p_node.ordinal = 0 then
    perform lockstep._fail_run(p_node, p_error, null, p_now);
  else
    update node n
       set state = case when p_node.on_failure = 'skip' then 'skipped' else 'failed' end, error = p_error, finished_at = p_now,
           available_at = null, lease_id = null, lease_expires_at = null
     where n.run_id = p_node.run_id and n.ordinal = p_node.ordinal;
    if p_node.on_failure in ('skip', 'continue') or v_root.kind = 'flow' then
      perform lockstep._settle_children(p_node, p_now, '{}', '{}', '{}', null, null);
    else
      perform lockstep._fail_run(v_root, p_error, p_node.name, p_now);
    end if;
  end if;
  perform lockstep._touch_limit(p_node, p_now);
end
$$;
