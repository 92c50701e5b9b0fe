-- purpose: makes a queue or changes its options: an absent option keeps its value, null puts it back to its default;
--   mode replace puts every option that is not named back to its default
-- locks in order: queue (no key update), lane (partition, group; only when messages come sooner than before)
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the same call again changes nothing; id and creation time never change
-- index used: queue_live_name, lane_due
-- Example: select * from lockstep.configure('orders', '{"leaseTime": 60, "retryLimit": null}');
create or replace function lockstep.configure(
  p_queue text, p_options json default '{}', p_namespace text default null, p_task text default null,
  p_mode text default 'merge',
  out id int, out queue text, out namespace text, out task text, out created_at text, out options json)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz;
  v_change jsonb;
  v_queue queue;
  v_before queue;
begin
  perform lockstep._demand_read_committed();
  v_change := lockstep._queue_change(p_queue, p_options, p_namespace, p_task, p_mode);
  loop
    select q.* into v_queue from queue q where q.name = p_queue and q.deleted_at is null for no key update;
    exit when found;
    v_now := lockstep.clock();
    -- A dotted name carries its namespace and task, as for a queue that a push makes.
    insert into queue (name, namespace, task, created_at)
      values (p_queue, case when strpos(p_queue, '.') > 0 then split_part(p_queue, '.', 1) else '' end,
              split_part(p_queue, '.', 2), v_now)
      on conflict (name) where deleted_at is null do nothing;
  end loop;
  v_before := v_queue;
  update queue q
     set (lease_seconds, retry_limit, retry_delay_ms, retry_delay_max_ms, dead_letter_queue, dlq_after_max_retries,
          crash_limit, require_lease, dedup_window_seconds, max_size, delayed_processing_seconds,
          window_buffer_seconds, min_pop_wait_ms, retention_enabled, retention_seconds, completed_retention_seconds,
          max_wait_seconds, dead_letter_retention_seconds, encryption_enabled, priority, ttl_seconds, retention_sink_hold,
          retention_sink_hold_max_seconds)
       = (select n.lease_seconds, n.retry_limit, n.retry_delay_ms, n.retry_delay_max_ms, n.dead_letter_queue,
                 n.dlq_after_max_retries, n.crash_limit, n.require_lease, n.dedup_window_seconds, n.max_size,
                 n.delayed_processing_seconds, n.window_buffer_seconds, n.min_pop_wait_ms, n.retention_enabled,
                 n.retention_seconds, n.completed_retention_seconds, n.max_wait_seconds, n.dead_letter_retention_seconds,
                 n.encryption_enabled, n.priority, n.ttl_seconds, n.retention_sink_hold, n.retention_sink_hold_max_seconds
            from jsonb_populate_record(v_queue, v_change) n),
         namespace = coalesce(nullif(p_namespace, ''), q.namespace), task = coalesce(nullif(p_task, ''), q.task)
   where q.id = v_queue.id
  returning q.* into v_queue;
  if v_queue.delayed_processing_seconds < v_before.delayed_processing_seconds
     or v_queue.window_buffer_seconds < v_before.window_buffer_seconds then
    perform lockstep._rejudge_lanes(v_queue.id);
  end if;
  id := v_queue.id; queue := v_queue.name; namespace := v_queue.namespace; task := v_queue.task;
  created_at := lockstep.instant_text(v_queue.created_at);
  options := lockstep.queue_options(v_queue);
end
$$;
