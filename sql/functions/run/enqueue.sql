-- purpose: enqueues one job of an action inside the caller's own transaction; the action need not be registered
-- locks in order: none (waits only for an open transaction that enqueued the same key)
-- raises: LS400 bad_request, LS401 name_too_long, LS413 payload_too_large; 25006 in a read-only transaction
-- idempotent how: one run per (action, key); a known key answers its run, conflict when its input differs
-- index used: run_key_pkey
-- Example: begin; insert into payments …; select * from lockstep.enqueue('charge', '{"paymentId":1}'); commit;
create or replace function lockstep.enqueue(
  p_action text, p_input json, p_key text default null, p_delay interval default null, p_priority int default 0,
  p_tags text[] default null, p_deadline interval default null, out run_id uuid, out created boolean, out conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id uuid := lockstep.uuid7();
begin
  perform lockstep._demand_run('action', p_action, p_input, p_key, p_delay, p_priority, p_tags, p_deadline);
  select s.run_id, s.created, s.differs into run_id, created, conflict
    from lockstep.submit_joined(array[v_id], array[p_action], array[case when not exists (
      select 1 from workflow_version w where w.name = p_action and w.kind = 'action') then 'action' end], array[null::text], array[null::text], array[p_key],
      array[p_input::text], array[nullif(p_priority, 0)], array[(extract(epoch from p_delay) * 1000)::bigint], array[p_tags::text],
      array[(extract(epoch from p_deadline) * 1000)::bigint], array[null::int], array[null::bigint], array[null::bigint],
      array[null::text], array[null::int], array[null::bigint], array[null::uuid], array[null::int], '{}', '{}', '{}') s;
end
$$;
