-- purpose: finishes nodes with their outputs, each fenced by its token, and makes their successors ready; the last statement
--   before COMMIT of the transaction that holds the handler's own writes
-- locks in order: node (run; node 0 first when the run may end, then by ordinal), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it; a second completion answers lease_lost and changes nothing
-- index used: node_pkey, run_limit_pkey
-- p_plan_*: inputs of successors that the completing process could compute itself; the others wait for a planner.
create or replace function lockstep.complete_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_output text[], p_plan_run uuid[], p_plan_ordinal int[], p_plan_input text[])
returns table (nth int, verdict text, ready_ordinals int[], run_ended boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_node node;
  v_runs uuid[] := p_run;
  v_ordinals int[] := p_ordinal;
begin
  perform lockstep._demand_read_committed();
  if not (0 = all (p_ordinal)) then
    -- Own nodes and their children, of an item also those of its map; child 0 is the run's own node.
    select p_run || coalesce(array_agg(c.run_id), '{}'), p_ordinal || coalesce(array_agg(c.child), '{}') into v_runs, v_ordinals
      from (select i.run_id, unnest(o.children || case when o.kind = 'item' then (
                     select m.children from node m where m.run_id = i.run_id and m.ordinal = o.children[1]) end) as child
              from unnest(p_run, p_ordinal) i(run_id, ordinal)
             cross join lateral (select n.kind, n.children from node n where n.run_id = i.run_id and n.ordinal = i.ordinal limit 1) o) c;
  end if;
  perform lockstep._lock_nodes(v_runs, v_ordinals);
  v_now := lockstep.clock();
  if 0 = all (p_ordinal) then
    return query select * from lockstep._complete_runs(p_run, p_lease_id, p_output, v_now);
    return;
  end if;
  for i in 1 .. cardinality(p_run) loop
    select * into v_node from node n where n.run_id = p_run[i] and n.ordinal = p_ordinal[i];
    nth := i;
    ready_ordinals := '{}';
    run_ended := false;
    if not found or v_node.lease_id is distinct from p_lease_id[i] or v_node.lease_expires_at <= v_now then
      verdict := 'lease_lost';
    else
      verdict := 'ok';
      if v_node.ordinal = 0 then
        perform lockstep._end_run(v_node, 'done', p_output[i], null, v_now);
        run_ended := true;
      else
        update node n
           set state = 'done', output = p_output[i], available_at = null, lease_id = null, lease_expires_at = null,
               finished_at = v_now
         where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
        select s.ready, s.ended into ready_ordinals, run_ended
          from lockstep._settle_children(v_node, v_now, p_plan_run, p_plan_ordinal, p_plan_input) s;
      end if;
      perform lockstep._touch_limit(v_node, v_now);
    end if;
    return next;
  end loop;
end
$$;
