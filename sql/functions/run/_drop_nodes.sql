-- purpose: cancels all of a run that has not settled, node 0 excepted, and frees the limits they held
-- locks in order: limit; the caller holds the nodes
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
create or replace function lockstep._drop_nodes(p_run uuid, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_node node;
begin
  for v_node in
    update node n set state = 'cancelled', finished_at = p_now, available_at = null, lease_id = null, lease_expires_at = null
     where n.run_id = p_run and n.ordinal > 0 and n.finished_at is null
    returning *
  loop
    if v_node.limit_key is not null then
      perform lockstep._touch_limit(v_node, p_now);
    end if;
  end loop;
end
$$;
