-- purpose: lays out the nodes of a graph run from its shape: parents before children, roots planned or ready to be
-- locks in order: none
-- raises: LS404 not_found when no shape was given and nobody registered the workflow
-- idempotent how: called once, by the submit that made the run
-- index used: workflow_version_pkey
-- Shape: {"output":bool,"nodes":[{"name","action","kind":"node"|"map","after":[ordinal…],"children":[ordinal…],"onFailure","compensate",
-- "maxAttempts","backoffMs","backoffMaxMs","limitKey","limitMax","limitIntervalMs"}…]}; ordinals count from 1, child 0 is the run.
create or replace function lockstep._lay_graph(
  p_run_id uuid, p_workflow text, p_version text, p_shape text, p_priority int, p_delay_ms bigint, p_now timestamptz,
  p_plan_id uuid[], p_plan_ordinal int[], p_plan_input text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_shape json := p_shape;
  v_version text := p_version;
  v_due timestamptz := p_now + make_interval(secs => p_delay_ms / 1000.0);
begin
  if v_shape is null then
    select w.shape::json, w.version into v_shape, v_version
      from workflow_version w
     where w.name = p_workflow and w.kind = 'graph' and (p_version is null or w.version = p_version)
     order by w.registered_at desc limit 1;
    if not found then
      raise exception using errcode = 'LS404', detail = 'not_found', message = 'no process has registered the workflow ' || p_workflow,
        hint = 'start a worker that imports it once; its shape stays registered';
    end if;
  end if;
  insert into node (run_id, ordinal, name, action, kind, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms, limit_key,
                    limit_max, limit_interval_ms, waiting, parents, children, on_failure, compensate, input, created_at)
    select p_run_id, s.ord::int, s.name, s.action, coalesce(s.kind, 'node'), c.state,
           case c.state when 'planned' then s.action when 'ready' then 'plan:' || p_workflow || '@' || v_version end,
           p_priority, case when c.state <> 'waiting' then v_due end, coalesce(s."maxAttempts", 5), coalesce(s."backoffMs", 1000),
           coalesce(s."backoffMaxMs", 3600000), s."limitKey", s."limitMax", s."limitIntervalMs", coalesce(cardinality(s.after), 0), s.after, s.children,
           coalesce(s."onFailure", 'fail'), s.compensate, c.input, p_now
      from rows from (json_to_recordset(v_shape -> 'nodes') as (
             name text, action text, kind text, after int[], children int[], "onFailure" text, compensate text, "maxAttempts" int,
             "backoffMs" bigint, "backoffMaxMs" bigint, "limitKey" text, "limitMax" int, "limitIntervalMs" bigint)) with ordinality s(name, action, kind, after,
             children, "onFailure", compensate, "maxAttempts", "backoffMs", "backoffMaxMs", "limitKey", "limitMax",
             "limitIntervalMs", ord)
      left join lateral (
        select i.input from unnest(p_plan_id, p_plan_ordinal, p_plan_input) i(id, ordinal, input)
         where i.id = p_run_id and i.ordinal = s.ord limit 1) p on true
     cross join lateral (
        select p.input, case when cardinality(s.after) > 0 then 'waiting' when p.input is not null then 'planned' else 'ready' end as state) c;
  update node n
     set version = v_version,
         waiting = (select count(*) from node c where c.run_id = p_run_id and c.ordinal > 0 and 0 = any (c.children))
   where n.run_id = p_run_id and n.ordinal = 0;
end
$$;
