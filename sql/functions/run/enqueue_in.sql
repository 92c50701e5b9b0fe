-- purpose: makes one plain job inside the caller's transaction, and says which transaction that is
-- locks in order: none
-- raises: 25006 in a read-only transaction
-- idempotent how: a repeat of an id changes nothing
-- index used: node_pkey
-- The commonest submission (no key, no tags, no deadline, no limit) in as few parts as it takes, each of which costs anew in every
-- transaction. Text out, as submit_in gives it.
create or replace function lockstep.enqueue_in(
  p_id uuid, p_action text, p_input text, p_priority int, p_delay_ms bigint, p_max_attempts int, p_backoff_ms bigint,
  p_backoff_max_ms bigint) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms,
                    input, created_at, workflow)
    values (p_id, 0, p_action, 'job', p_action, 'planned', p_action, p_priority, v_now + make_interval(secs => p_delay_ms / 1000.0),
            p_max_attempts, p_backoff_ms, p_backoff_max_ms, p_input, v_now, p_action)
    on conflict on constraint node_pkey do nothing;
  return '{"xid":"' || pg_current_xact_id()::text || '","runs":[{"runId":"' || p_id::text || '","created":' || found::text
    || ',"differs":false}]}';
end
$$;
