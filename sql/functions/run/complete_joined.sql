-- purpose: finishes nodes with their outputs, each fenced by its token, and makes their successors ready
-- locks in order: node (run; node 0 first when the run may end, then by ordinal), limit
-- raises: LS425 isolation_not_supported
-- idempotent how: the token fences it; a repeat under the same token answers ok and changes nothing
-- index used: node_pkey
-- p_plan_*: by position in p_run and in its order, inputs of successors that the completing process could compute itself; the
-- others wait for a planner. Those with p_take are leased at once under p_take_lease: the completer goes on with them.
create or replace function lockstep.complete_joined(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_output text[], p_plan_of int[], p_plan_ordinal int[], p_plan_input text[],
  p_take boolean[], p_take_lease text, p_take_ms bigint)
returns table (nth int, verdict text, ready_ordinals int[], taken_ordinals int[], run_ended boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_end timestamptz;
  v_node node;
  v_runs uuid[] := p_run;
  v_ordinals int[] := p_ordinal;
  v_plain boolean;
  v_lost int[];
  v_from int := 1;
  v_to int;
begin
  perform lockstep._demand_read_committed();
  if not (0 = all (p_ordinal)) then
    -- Own nodes and their children, of an item also those of its map; child 0 is the run's own node.
    -- What is read here never changes, or only under the token.
    select p_run || coalesce(array_agg(o.run_id) filter (where c.ordinal is not null), '{}'),
           p_ordinal || coalesce(array_agg(c.ordinal) filter (where c.ordinal is not null), '{}'),
           bool_and(o.kind = 'node' and o.limit_key is null)
      into v_runs, v_ordinals, v_plain
      from unnest(p_run, p_ordinal) i(run_id, ordinal)
     cross join lateral (select n.run_id, n.kind, n.limit_key, n.children from node n
                          where n.run_id = i.run_id and n.ordinal = i.ordinal limit 1) o
      left join lateral unnest(o.children || case when o.kind = 'item' then (
                  select m.children from node m where m.run_id = o.run_id and m.ordinal = o.children[1]) end) c(ordinal) on true;
  end if;
  perform lockstep._lock_nodes(v_runs, v_ordinals);
  v_now := lockstep.clock();
  if 0 = all (p_ordinal) then
    v_lost := lockstep._complete_runs(p_run, p_lease_id, p_output, v_now);
    return query
      select g.ord, case when g.ord = any (v_lost) then 'lease_lost' else 'ok' end, '{}'::int[], '{}'::int[], g.ord <> all (v_lost)
        from generate_series(1, cardinality(p_run)) g(ord);
    return;
  end if;
  v_end := v_now + make_interval(secs => p_take_ms / 1000.0);
  if v_plain then
    return query select * from lockstep._complete_nodes(p_run, p_ordinal, p_lease_id, p_output, p_plan_of, p_plan_ordinal, p_plan_input,
      p_take, p_take_lease, v_end, v_now);
    return;
  end if;
  for i in 1 .. cardinality(p_run) loop
    select * into v_node from node n where n.run_id = p_run[i] and n.ordinal = p_ordinal[i];
    nth := i;
    -- The plans stand in the order of the nodes: only this node's own are looked through.
    v_to := v_from - 1;
    while p_plan_of[v_to + 1] = i loop
      v_to := v_to + 1;
    end loop;
    ready_ordinals := '{}';
    taken_ordinals := '{}';
    run_ended := false;
    if v_node.lease_id is distinct from p_lease_id[i] or coalesce(v_node.lease_expires_at <= v_now, true) then
      verdict := case when v_node.state = 'done' and v_node.lease_id = p_lease_id[i] then 'ok' else 'lease_lost' end;
    else
      verdict := 'ok';
      if v_node.ordinal = 0 then
        perform lockstep._end_run(v_node, 'done', p_output[i], null, v_now);
        run_ended := true;
      else
        update node n set state = 'done', output = p_output[i], available_at = null, lease_expires_at = null, finished_at = v_now
         where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
        select s.ready, s.taken, s.ended into ready_ordinals, taken_ordinals, run_ended
          from lockstep._settle_children(v_node, v_now, p_plan_ordinal[v_from:v_to], p_plan_input[v_from:v_to], p_take[v_from:v_to],
                 p_take_lease, v_end) s;
      end if;
      if v_node.limit_key is not null then
        perform lockstep._touch_limit(v_node, v_now);
      end if;
    end if;
    v_from := v_to + 1;
    return next;
  end loop;
end
$$;
