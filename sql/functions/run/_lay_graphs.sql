-- purpose: lays out the nodes of graph runs of one shape: parents before children, roots planned or ready to be
-- locks in order: none
-- raises: nothing
-- idempotent how: a node that is there stays as it is
-- index used: node_pkey
-- Shape: {"output":bool,"sinks":n,"nodes":[{"name","action","kind":"node"|"map","after":[ordinal…],"children":[ordinal…],"onFailure",
-- "compensate","maxAttempts","backoffMs","backoffMaxMs","limitKey","limitMax","limitIntervalMs"}…]}; ordinals count from 1, child 0 is
-- the run, sinks are the nodes that have it. The shape is read once for all runs, and the plans are joined, not looked through per node.
create or replace function lockstep._lay_graphs(
  p_shape json, p_id uuid[], p_workflow text, p_version text, p_priority int[], p_delay_ms bigint[], p_now timestamptz,
  p_plan_id uuid[], p_plan_ordinal int[], p_plan_input text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  insert into node (run_id, ordinal, name, action, kind, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms, limit_key,
                    limit_max, limit_interval_ms, waiting, parents, children, on_failure, compensate, input, created_at)
    select r.id, s.ord::int, s.name, s.action, coalesce(s.kind, 'node'), c.state,
           case c.state when 'planned' then s.action when 'ready' then 'plan:' || p_workflow || '@' || p_version end,
           coalesce(r.priority, 0),
           case when c.state <> 'waiting' then p_now + make_interval(secs => coalesce(r.delay_ms, 0) / 1000.0) end,
           coalesce(s."maxAttempts", 5), coalesce(s."backoffMs", 1000), coalesce(s."backoffMaxMs", 3600000), s."limitKey", s."limitMax",
           s."limitIntervalMs", coalesce(cardinality(s.after), 0), s.after, s.children, coalesce(s."onFailure", 'fail'), s.compensate,
           p.input, p_now
      from rows from (json_to_recordset(p_shape -> 'nodes') as (
             name text, action text, kind text, after int[], children int[], "onFailure" text, compensate text, "maxAttempts" int,
             "backoffMs" bigint, "backoffMaxMs" bigint, "limitKey" text, "limitMax" int, "limitIntervalMs" bigint)) with ordinality
             s(name, action, kind, after, children, "onFailure", compensate, "maxAttempts", "backoffMs", "backoffMaxMs", "limitKey",
               "limitMax", "limitIntervalMs", ord)
     cross join unnest(p_id, p_priority, p_delay_ms) r(id, priority, delay_ms)
      left join unnest(p_plan_id, p_plan_ordinal, p_plan_input) p(id, ordinal, input) on p.id = r.id and p.ordinal = s.ord
     cross join lateral (
       select case when cardinality(s.after) > 0 then 'waiting' when p.input is not null then 'planned' else 'ready' end as state) c
    on conflict on constraint node_pkey do nothing;
end
$$;
