-- purpose: freezes what a planner computed for ready nodes, each fenced by its token: an input, a skip, or the items of a map
-- locks in order: node (run; node 0 first, then by ordinal)
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it
-- index used: node_pkey
-- p_outcome: input | skip | map | output; a planning function that threw is a failure without retry (fail_joined).
-- p_item_of: which of the planned nodes (from 1) an item belongs to.
create or replace function lockstep.plan_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_outcome text[], p_input text[], p_item_of int[], p_item_key text[], p_item_input text[])
returns table (nth int, verdict text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_node node;
  v_last int;
  v_items int;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_nodes(p_run || p_run || coalesce(c.runs, '{}'), p_ordinal || array_fill(0, array[cardinality(p_run)]) || coalesce(c.children, '{}'))
     from (select array_agg(u.run_id) as runs, array_agg(u.child) as children
             from (select i.run_id, unnest((select n.children from node n where n.run_id = i.run_id and n.ordinal = i.ordinal)) as child
                     from unnest(p_run, p_ordinal) i(run_id, ordinal)) u) c;
  v_now := lockstep.clock();
  for i in 1 .. cardinality(p_run) loop
    select * into v_node from node n where n.run_id = p_run[i] and n.ordinal = p_ordinal[i];
    nth := i;
    if not found or v_node.lease_id is distinct from p_lease_id[i] or coalesce(v_node.lease_expires_at <= v_now, true) then
      verdict := 'lease_lost';
      return next;
      continue;
    end if;
    verdict := 'ok';
    if p_outcome[i] = 'output' then
      perform lockstep._end_run(v_node, 'done', p_input[i], null, v_now);
    elsif p_outcome[i] = 'input' then
      update node n
         set state = 'planned', want = n.action, input = p_input[i], available_at = v_now, lease_id = null, lease_expires_at = null,
             attempt = 0, crashes = 0
       where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
    elsif p_outcome[i] = 'skip' then
      update node n set state = 'skipped', finished_at = v_now, available_at = null, lease_id = null, lease_expires_at = null
       where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
      perform lockstep._settle_children(v_node, v_now, '{}', '{}', '{}', null, null);
    else
      select max(n.ordinal) into v_last from node n where n.run_id = v_node.run_id;
      insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms,
                        limit_key, limit_max, limit_interval_ms, children, on_failure, compensate, input, run_key, created_at)
        select v_node.run_id, v_last + u.n, v_node.name || '[' || u.key || ']', 'item', v_node.action, 'planned', v_node.action,
               v_node.priority, v_now, v_node.max_attempts, v_node.backoff_ms, v_node.backoff_max_ms,
               -- A map's own limit holds within its run; an action's is shared by all.
               v_node.limit_key || case when v_node.limit_key like 'node:%' then '@' || v_node.run_id::text else '' end, v_node.limit_max,
               v_node.limit_interval_ms,
               array[v_node.ordinal], v_node.on_failure, v_node.compensate, u.input, u.key, v_now
          from (select t.key, t.input, row_number() over (order by t.ord)::int as n
                  from unnest(p_item_of, p_item_key, p_item_input) with ordinality t(of, key, input, ord) where t.of = i) u;
      get diagnostics v_items = row_count;
      update node n
         set state = case when v_items = 0 then 'done' else 'waiting' end, waiting = v_items, available_at = null, lease_id = null,
             lease_expires_at = null, finished_at = case when v_items = 0 then v_now end
       where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
      if v_items = 0 then
        perform lockstep._settle_children(v_node, v_now, '{}', '{}', '{}', null, null);
      end if;
    end if;
    return next;
  end loop;
end
$$;
