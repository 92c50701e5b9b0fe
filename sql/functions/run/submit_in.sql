-- purpose: makes runs inside the caller's transaction, and says which transaction that is
-- locks in order: as submit_joined
-- raises: as submit_joined
-- idempotent how: as submit_joined
-- index used: as submit_joined
-- Text out, so that every library carries it: {"xid":"…","runs":[{"runId","created","differs"}…]}.
create or replace function lockstep.submit_in(
  p_id uuid[], p_workflow text[], p_kind text[], p_version text[], p_shape text[], p_key text[], p_input text[], p_priority int[],
  p_delay_ms bigint[], p_tags text[], p_deadline_ms bigint[], p_max_attempts int[], p_backoff_ms bigint[], p_backoff_max_ms bigint[],
  p_limit_key text[], p_limit_max int[], p_limit_interval_ms bigint[], p_parent_run uuid[], p_parent_ordinal int[],
  p_plan_id uuid[], p_plan_ordinal int[], p_plan_input text[]) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_runs json;
begin
  select json_agg(json_build_object('runId', s.run_id, 'created', s.created, 'differs', s.differs) order by s.nth) into v_runs
    from lockstep.submit_joined(p_id, p_workflow, p_kind, p_version, p_shape, p_key, p_input, p_priority, p_delay_ms, p_tags, p_deadline_ms,
      p_max_attempts, p_backoff_ms, p_backoff_max_ms, p_limit_key, p_limit_max, p_limit_interval_ms, p_parent_run, p_parent_ordinal,
      p_plan_id, p_plan_ordinal, p_plan_input) s;
  return json_build_object('xid', pg_current_xact_id()::text, 'runs', v_runs)::text;
end
$$;
