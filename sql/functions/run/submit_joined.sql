-- purpose: makes runs: single jobs, code workflows and graphs, in the caller's transaction, many in one call
-- locks in order: none (waits only for an open transaction that submitted the same key)
-- raises: LS404 not_found for a workflow nobody registered; 25006 in a read-only transaction
-- idempotent how: one run per id and per (workflow, key); a repeat of an id changes nothing; a known key answers the run that has it
-- index used: run_key_pkey, workflow_version_pkey
-- Works under any isolation level. p_kind: action | code | graph, null for whatever is registered; p_shape null: the registered one.
-- p_tags: array literals.
-- p_plan_*: inputs of root nodes that the submitting process could compute itself; the others are planned by a worker.
create or replace function lockstep.submit_joined(
  p_id uuid[], p_workflow text[], p_kind text[], p_version text[], p_shape text[], p_key text[], p_input text[], p_priority int[],
  p_delay_ms bigint[], p_tags text[], p_deadline_ms bigint[], p_max_attempts int[], p_backoff_ms bigint[], p_backoff_max_ms bigint[],
  p_limit_key text[], p_limit_max int[], p_limit_interval_ms bigint[], p_parent_run uuid[], p_parent_ordinal int[],
  p_plan_id uuid[], p_plan_ordinal int[], p_plan_input text[])
returns table (nth int, run_id uuid, created boolean, differs boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_new uuid[] := p_id;
  v_kind text[] := p_kind;
  v_version text[] := p_version;
  v_defaults json[];
  v_shape text[] := p_shape;
  v_unknown text;
  v_graph record;
begin
  if cardinality(array_remove(p_kind, null)) < cardinality(p_kind)
     or ('graph' = any (p_kind) and cardinality(array_remove(p_shape, null)) < cardinality(p_shape)) then
    -- Named only: what is registered under the name, with its policy.
    select array_agg(coalesce(i.kind, w.kind) order by i.ord), array_agg(coalesce(i.version, w.version) order by i.ord),
           array_agg(case when w.kind <> 'graph' then w.shape::json end order by i.ord),
           array_agg(coalesce(i.shape, case when w.kind = 'graph' then w.shape end) order by i.ord),
           min(i.workflow) filter (where w.kind is null and (i.kind is null or (i.kind = 'graph' and i.shape is null)))
      into v_kind, v_version, v_defaults, v_shape, v_unknown
      from unnest(p_workflow, p_kind, p_version, p_shape) with ordinality i(workflow, kind, version, shape, ord)
      left join lateral (
        select r.kind, r.version, r.shape from workflow_version r
         where (i.kind is null or (i.kind = 'graph' and i.shape is null)) and r.name = i.workflow
           and (i.kind is null or r.kind = i.kind) and (i.version is null or r.version = i.version) order by r.registered_at desc limit 1) w on true;
    if v_unknown is not null then
      raise exception using errcode = 'LS404', detail = 'not_found', message = 'no process has registered ' || v_unknown,
        hint = 'start a worker that imports it once; its shape stays registered';
    end if;
  end if;
  if cardinality(array_remove(p_key, null)) > 0 then
    insert into run_key (workflow, key, run_id)
      select i.workflow, i.key, i.id from unnest(p_workflow, p_key, p_id) with ordinality i(workflow, key, id, ord)
       where i.key is not null
       order by i.workflow collate "C", i.key collate "C", i.ord
      on conflict do nothing;
    -- In a later statement: whose run each key names.
    v_new := array(
      select case when i.key is null or (
                    select k.run_id from run_key k where k.workflow = i.workflow and k.key = i.key) = i.id then i.id end
        from unnest(p_workflow, p_key, p_id) with ordinality i(workflow, key, id, ord) order by i.ord);
  end if;
  v_now := lockstep.clock();
  insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms, limit_key,
                    limit_max, limit_interval_ms, waiting, input, created_at, workflow, version, run_key, tags, deadline, parent_run, parent_ordinal)
    select i.id, 0, i.workflow, case i.kind when 'action' then 'job' when 'code' then 'flow' else 'graph' end,
           case when i.kind = 'action' then i.workflow end, case when i.kind = 'graph' then 'waiting' else 'planned' end,
           case i.kind when 'action' then i.workflow when 'code' then 'flow:' || i.workflow || coalesce('@' || nullif(i.version, ''), '') end,
           coalesce(i.priority, (i.defaults ->> 'priority')::int, 0), case when i.kind <> 'graph' then v_now + make_interval(secs => coalesce(i.delay_ms, 0) / 1000.0) end,
           coalesce(i.max_attempts, (i.defaults ->> 'maxAttempts')::int, 5), coalesce(i.backoff_ms, (i.defaults ->> 'backoffMs')::bigint, 1000),
           coalesce(i.backoff_max_ms, (i.defaults ->> 'backoffMaxMs')::bigint, 3600000), coalesce(i.limit_key, i.defaults ->> 'limitKey'),
           coalesce(i.limit_max, (i.defaults ->> 'limitMax')::int), coalesce(i.limit_interval_ms, (i.defaults ->> 'limitIntervalMs')::bigint),
           case when i.kind = 'graph' then (i.shape::json ->> 'sinks')::int else 0 end, i.input, v_now, i.workflow, i.version, i.key, i.tags::text[],
           v_now + make_interval(secs => i.deadline_ms / 1000.0), i.parent_run, i.parent_ordinal
      from unnest(v_new, p_workflow, v_kind, v_version, p_key, p_input, p_priority, p_delay_ms, p_tags, p_deadline_ms, p_max_attempts,
                  p_backoff_ms, p_backoff_max_ms, p_limit_key, p_limit_max, p_limit_interval_ms, p_parent_run, p_parent_ordinal, v_defaults, v_shape)
           i(id, workflow, kind, version, key, input, priority, delay_ms, tags, deadline_ms, max_attempts, backoff_ms, backoff_max_ms,
             limit_key, limit_max, limit_interval_ms, parent_run, parent_ordinal, defaults, shape)
     where i.id is not null
    on conflict on constraint node_pkey do nothing;
  for v_graph in
    select i.workflow, i.version, i.shape, array_agg(i.id order by i.ord) as ids, array_agg(i.priority order by i.ord) as priorities,
           array_agg(i.delay_ms order by i.ord) as delays
      from unnest(v_new, p_workflow, v_kind, v_version, v_shape, p_priority, p_delay_ms) with ordinality
           i(id, workflow, kind, version, shape, priority, delay_ms, ord)
     where i.kind = 'graph' and i.id is not null group by 1, 2, 3
  loop
    perform lockstep._lay_graphs(v_graph.shape::json, v_graph.ids, v_graph.workflow, v_graph.version, v_graph.priorities, v_graph.delays,
      v_now, p_plan_id, p_plan_ordinal, p_plan_input);
  end loop;
  return query
    select i.ord::int, k.run_id, i.new is not null,
           i.new is null and (select n.input from node n where n.run_id = k.run_id and n.ordinal = 0) is distinct from i.input
      from unnest(p_id, v_new, p_workflow, p_key, p_input) with ordinality i(id, new, workflow, key, input, ord)
     cross join lateral (
       select case when i.new is not null then i.id
                   else (select r.run_id from run_key r where r.workflow = i.workflow and r.key = i.key) end as run_id) k;
end
$$;
