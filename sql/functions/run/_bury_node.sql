-- purpose: fails a node whose workers died more often than its crash limit allows
-- locks in order: node 0 of the run and its nodes (by ordinal), limit; the node itself is held, so node 0 is only tried
-- raises: nothing
-- idempotent how: what cannot be held now stays due
-- index used: node_pkey
-- Node 0 comes before the node in the order: whoever holds the node may only try it.
create or replace function lockstep._bury_node(p_node node, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform 1 from node n where n.run_id = p_node.run_id and n.ordinal = 0 for no key update skip locked;
  if not found then
    update node n set available_at = p_now + interval '1 second' where n.run_id = p_node.run_id and n.ordinal = p_node.ordinal;
    return;
  end if;
  perform lockstep._fail_node(p_node, json_build_object('code', 'crashed', 'message',
    'the lease lapsed ' || p_node.crashes + 1 || ' times: no worker finished this step')::text, p_now);
end
$$;
