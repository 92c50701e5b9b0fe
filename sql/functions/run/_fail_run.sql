-- purpose: fails a run: what has not settled is cancelled, what is done and can be undone is compensated in reverse order
-- locks in order: node (run, ordinal): the caller holds node 0
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
-- Of a map its items are undone, each that is done.
create or replace function lockstep._fail_run(p_root node, p_error text, p_failed text, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_last int;
  v_count int;
begin
  perform 1 from node n where n.run_id = p_root.run_id and n.ordinal > 0 and n.finished_at is null order by n.ordinal for no key update;
  perform lockstep._drop_nodes(p_root.run_id, p_now);
  select max(n.ordinal) into v_last from node n where n.run_id = p_root.run_id;
  with undo as (
    select n.name, n.compensate, n.input, n.output, n.priority,
           row_number() over (order by n.finished_at desc, n.ordinal desc)::int as nth, count(*) over ()::int as total
      from node n where n.run_id = p_root.run_id and n.state = 'done' and n.compensate is not null and n.kind <> 'map'
  )
  insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, waiting, children, on_failure, input, created_at,
                    max_attempts, backoff_ms, backoff_max_ms, limit_key, limit_max, limit_interval_ms)
    select p_root.run_id, v_last + u.nth, 'compensate:' || u.name, 'compensation', u.compensate,
           case when u.nth = 1 then 'planned' else 'waiting' end, case when u.nth = 1 then u.compensate end, u.priority,
           case when u.nth = 1 then p_now end, case when u.nth = 1 then 0 else 1 end,
           array[case when u.nth < u.total then v_last + u.nth + 1 else 0 end], 'continue',
           '{"input":' || coalesce(u.input, 'null') || ',"output":' || coalesce(u.output, 'null') || '}', p_now,
           coalesce((k.shape ->> 'maxAttempts')::int, 5), coalesce((k.shape ->> 'backoffMs')::bigint, 1000),
           coalesce((k.shape ->> 'backoffMaxMs')::bigint, 3600000), k.shape ->> 'limitKey', (k.shape ->> 'limitMax')::int,
           (k.shape ->> 'limitIntervalMs')::bigint
      from undo u
      left join lateral (
        select w.shape::json as shape from workflow_version w where w.name = u.compensate and w.kind = 'action' limit 1) k on true;
  get diagnostics v_count = row_count;
  update node n
     set state = case when v_count > 0 then 'compensating' else 'failed' end, waiting = least(v_count, 1),
         finished_at = case when v_count = 0 then p_now end, available_at = null, lease_id = null, lease_expires_at = null,
         error = case when p_failed is null then p_error
                      else jsonb_build_object('code', 'node_failed', 'message', 'node ' || p_failed || ' failed', 'node', p_failed,
                                              'cause', p_error::jsonb)::text end
   where n.run_id = p_root.run_id and n.ordinal = 0;
  if v_count = 0 then
    perform lockstep._tell_parent(p_root, p_now);
  end if;
end
$$;
