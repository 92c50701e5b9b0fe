-- purpose: after a node settled: counts down its successors and makes those ready that wait for nothing more, skips those that only
--   hang on skipped ones, and ends the run when its last node settled
-- locks in order: none beyond the nodes that the caller holds
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
create or replace function lockstep._settle_children(
  p_node node, p_now timestamptz, p_plan_ordinal int[], p_plan_input text[], p_take boolean[], p_take_lease text,
  p_take_end timestamptz, out ready int[], out taken int[], out ended boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_child int;
  v_node node;
  v_input text;
  v_take boolean;
  v_further record;
begin
  ready := '{}';
  taken := '{}';
  ended := false;
  foreach v_child in array coalesce(p_node.children, '{}') loop
    update node n set waiting = n.waiting - 1 where n.run_id = p_node.run_id and n.ordinal = v_child and n.finished_at is null
      returning * into v_node;
    continue when not found;
    if v_node.kind = 'flow' then
      -- Code that called this node: it looks again, now or when it lets go.
      update node n set available_at = p_now where n.run_id = p_node.run_id and n.ordinal = 0 and n.lease_id is null;
    elsif v_node.waiting = 0 and v_child = 0 then
      perform lockstep._end_graph(v_node, p_now);
      ended := true;
    elsif v_node.waiting = 0 and v_node.kind = 'map' and p_node.kind = 'item' then
      update node n set state = 'done', finished_at = p_now where n.run_id = v_node.run_id and n.ordinal = v_child;
      v_further := lockstep._settle_children(v_node, p_now, p_plan_ordinal, p_plan_input, p_take, p_take_lease, p_take_end);
      ready := ready || v_further.ready;
      taken := taken || v_further.taken;
      ended := ended or v_further.ended;
    elsif v_node.waiting = 0 and cardinality(v_node.parents) > 0 and not exists (
      select 1 from node n where n.run_id = v_node.run_id and n.ordinal = any (v_node.parents) and n.state <> 'skipped') then
      update node n set state = 'skipped', finished_at = p_now where n.run_id = v_node.run_id and n.ordinal = v_child;
      v_further := lockstep._settle_children(v_node, p_now, p_plan_ordinal, p_plan_input, p_take, p_take_lease, p_take_end);
      ready := ready || v_further.ready;
      taken := taken || v_further.taken;
      ended := ended or v_further.ended;
    elsif v_node.waiting = 0 then
      select i.input, i.take and v_node.limit_key is null into v_input, v_take
        from unnest(p_plan_ordinal, p_plan_input, p_take) i(ordinal, input, take) where i.ordinal = v_child;
      if v_take then
        -- The completer goes on with it at once, under a token of its own.
        update node n
           set state = 'planned', want = n.action, input = v_input, attempt = n.attempt + 1, lease_id = p_take_lease,
               lease_expires_at = p_take_end, available_at = p_take_end
         where n.run_id = v_node.run_id and n.ordinal = v_child;
        taken := taken || v_child;
        continue;
      elsif v_input is not null or v_node.input is not null then
        update node n set state = 'planned', want = n.action, input = coalesce(v_input, n.input), available_at = p_now
         where n.run_id = v_node.run_id and n.ordinal = v_child;
      else
        update node n
           set state = 'ready', available_at = p_now,
               want = (select 'plan:' || r.workflow || '@' || r.version from node r where r.run_id = v_node.run_id and r.ordinal = 0)
         where n.run_id = v_node.run_id and n.ordinal = v_child;
      end if;
      ready := ready || v_child;
    end if;
  end loop;
end
$$;
