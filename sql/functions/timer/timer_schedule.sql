-- purpose: schedules one message inside the caller's own transaction: pushed after the delay, or not at all if it rolls back
-- locks in order: timer (queue, key) until the caller's commit
-- raises: LS430 timers_bad_request, LS431 timer_horizon_exceeded, LS413 payload_too_large
-- idempotent how: a key has one timer; a pending one is replaced (status rescheduled)
-- index used: timer_pkey
-- Example: select * from lockstep.timer_schedule('reminders', 'order-1', '{"order":1}', interval '3 days', 'acme');
create or replace function lockstep.timer_schedule(
  p_queue text, p_key text, p_payload json, p_delay interval, p_partition text default 'Default', p_transaction_id text default null,
  out status text, out message_id uuid, out due_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_id uuid := lockstep.uuid7();
  -- Months are as long as they are from now on.
  v_delay bigint := case when p_delay > interval '91 days' then 9223372036854775807
                         when p_delay is not null then ceil(greatest(extract(epoch from (v_now + p_delay) - v_now), 0) * 1000) end;
begin
  perform lockstep._timer_demand(array['schedule'], array[p_queue], array[p_key], array[p_partition], array[p_transaction_id],
                                 array[p_payload::text], array[v_delay]);
  select case when t.revision = 0 then 'scheduled' else 'rescheduled' end, v_id, t.due_at into status, message_id, due_at
    from lockstep._timer_put(v_now, array[p_queue], array[p_key], array[p_partition], array[p_transaction_id],
                             array[p_payload::text], array[v_delay], array[v_id], array[null::text]) t;
end
$$;
