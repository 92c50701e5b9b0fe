-- purpose: cancels a pending timer inside the caller's own transaction; false when there is none, as after it has fired
-- locks in order: timer (queue, key) until the caller's commit
-- raises: LS430 timers_bad_request
-- idempotent how: a second call finds none
-- index used: timer_pkey
-- Example: select lockstep.timer_cancel('reminders', 'order-1');
create or replace function lockstep.timer_cancel(p_queue text, p_key text) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._timer_demand(array['cancel'], array[p_queue], array[p_key], array[null::text], array[null::text],
                                 array[null::text], array[null::bigint]);
  return lockstep._timer_cancel(p_queue, p_key) is not null;
end
$$;
