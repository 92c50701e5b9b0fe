-- purpose: finishes plain nodes of graphs in one set, each fenced by its token, and makes their successors ready
-- locks in order: node (0 of a parent run); the caller holds the nodes, their successors and their runs' own nodes
-- raises: nothing
-- idempotent how: the token fences it; a repeat under the same token answers ok and changes nothing
-- index used: node_pkey
-- For nodes that no limit and no map holds: what is done skips nothing, so one round is enough. 100 nodes at once cost
-- the server a third of what they cost one by one.
create or replace function lockstep._complete_nodes(
  p_run uuid[], p_ordinal int[], p_lease_id text[], p_output text[], p_plan_of int[], p_plan_ordinal int[], p_plan_input text[],
  p_take boolean[], p_take_lease text, p_take_end timestamptz, p_now timestamptz)
returns table (nth int, verdict text, ready_ordinals int[], taken_ordinals int[], run_ended boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_count int := cardinality(p_run);
  v_plan int[] := array_fill(null::int, array[v_count]);
  v_more boolean := false;
  v_done int[];
  v_of int[];
  v_child int[];
  v_taken boolean[];
  v_free boolean[];
  v_ended uuid[];
  v_answered int;
  v_root node;
begin
  -- Where each node's plan stands. Joins over as many plans as nodes would look through all of them for each.
  for k in 1 .. cardinality(p_plan_of) loop
    v_more := v_more or v_plan[p_plan_of[k]] is not null;
    v_plan[p_plan_of[k]] := k;
  end loop;
  -- Nodes and their successors are never the same rows: a successor does not run before.
  with done as (
    update node n
       set state = 'done', output = i.output, available_at = null, lease_expires_at = null, finished_at = p_now
      from unnest(p_run, p_ordinal, p_lease_id, p_output) with ordinality i(run_id, ordinal, lease_id, output, ord)
     where n.run_id = i.run_id and n.ordinal = i.ordinal and n.lease_id = i.lease_id and n.lease_expires_at > p_now
    returning i.ord::int, n.run_id, n.children
  ), settled as (
    select d.run_id, c.ordinal, count(*)::int as parents, max(d.ord) as of
      from done d cross join lateral unnest(d.children) c(ordinal)
     group by 1, 2
  ), moved as (
    update node n
       set waiting = n.waiting - s.parents,
           -- Most runs simply end, with their last node; those that compensate, that have a parent or an output to compute are seen
           -- to one by one.
           (state, finished_at) = (
             select case when n.waiting > s.parents or (n.ordinal = 0 and not e.ends) then n.state when n.ordinal = 0 then 'done'
                         when coalesce(s.input, n.input) is null then 'ready' else 'planned' end,
                    case when e.ends then p_now end
               from (select n.ordinal = 0 and n.waiting = s.parents and n.state <> 'compensating' and n.parent_run is null and not exists (
                       select 1 from workflow_version w
                        where w.name = n.workflow and w.version = n.version and w.shape::json ->> 'output' = 'true') as ends) e),
           want = case when n.waiting > s.parents or n.ordinal = 0 then n.want when coalesce(s.input, n.input) is null then (
                    select 'plan:' || r.workflow || '@' || r.version from node r where r.run_id = n.run_id and r.ordinal = 0)
                       else n.action end,
           input = case when n.waiting > s.parents or n.ordinal = 0 then n.input else coalesce(s.input, n.input) end,
           available_at = case when n.waiting > s.parents or n.ordinal = 0 then n.available_at
                               when s.take and n.limit_key is null then p_take_end else p_now end,
           attempt = n.attempt + (n.waiting = s.parents and n.ordinal > 0 and s.take and n.limit_key is null)::int,
           lease_id = case when n.waiting = s.parents and n.ordinal > 0 and s.take and n.limit_key is null then p_take_lease
                           else n.lease_id end,
           lease_expires_at = case when n.waiting = s.parents and n.ordinal > 0 and s.take and n.limit_key is null then p_take_end
                                   else n.lease_expires_at end
      from (select t.run_id, t.ordinal, t.parents, t.of, p_plan_input[k.at] as input, coalesce(p_take[k.at], false) as take
              from settled t
             cross join lateral (
               select case when p_plan_ordinal[v_plan[t.of]] = t.ordinal then v_plan[t.of] when v_more then (
                 select u.ord::int from unnest(p_plan_of, p_plan_ordinal) with ordinality u(of, ordinal, ord)
                  where u.of = t.of and u.ordinal = t.ordinal) end as at) k) s
     where n.run_id = s.run_id and n.ordinal = s.ordinal and n.finished_at is null
    returning s.of, n.run_id, n.ordinal, n.finished_at, s.take and n.limit_key is null and n.lease_id = p_take_lease as taken, n.waiting = 0 as free
  )
  select coalesce((select array_agg(d.ord) from done d), '{}'), coalesce(array_agg(m.of), '{}'), array_agg(m.ordinal), array_agg(m.taken),
         array_agg(m.free), array_agg(m.run_id) filter (where m.ordinal = 0 and m.free and m.finished_at is null)
    into v_done, v_of, v_child, v_taken, v_free, v_ended from moved m;
  if v_ended is not null then
    for v_root in select * from node n where n.run_id = any (v_ended) and n.ordinal = 0 loop
      perform lockstep._end_graph(v_root, p_now);
    end loop;
  end if;
  return query
    select c.of, 'ok', coalesce(array_agg(c.ordinal) filter (where c.ordinal > 0 and c.free and not coalesce(c.taken, false)), '{}'),
           coalesce(array_agg(c.ordinal) filter (where c.taken), '{}'), bool_or(c.ordinal = 0 and c.free)
      from unnest(v_of, v_child, v_taken, v_free) c(of, ordinal, taken, free) group by c.of;
  get diagnostics v_answered = row_count;
  if v_answered < v_count then
    -- Those whose successors another of the same call made ready, and those that were lost.
    return query
      select i.ord::int, case when i.ord = any (v_done) then 'ok' else coalesce((
               select 'ok' from node n where n.run_id = i.run_id and n.ordinal = i.ordinal and n.state = 'done' and n.lease_id = i.lease_id),
               'lease_lost') end, '{}'::int[], '{}'::int[], false
        from unnest(p_run, p_ordinal, p_lease_id) with ordinality i(run_id, ordinal, lease_id, ord)
       where i.ord <> all (v_of);
  end if;
end
$$;
