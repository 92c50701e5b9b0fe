-- purpose: fails runs whose deadline has passed, a few per call
-- locks in order: node (run; node 0 first, SKIP LOCKED, then by ordinal), limit
-- raises: nothing
-- idempotent how: an ended run is left as it is
-- index used: node_deadline
create or replace function lockstep.expire_runs(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_run uuid;
  v_root node;
  v_count int := 0;
begin
  for v_run in
    select n.run_id from node n where n.deadline <= v_now and n.finished_at is null and n.state <> 'compensating' order by n.deadline limit p_limit
  loop
    select * into v_root from node n where n.run_id = v_run and n.ordinal = 0 for no key update skip locked;
    continue when not found or v_root.finished_at is not null or v_root.state = 'compensating';
    perform lockstep._fail_run(v_root, json_build_object('code', 'deadline_exceeded', 'message', 'the run did not end before its deadline')::text,
      null, v_now);
    perform lockstep._touch_limit(v_root, v_now);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
