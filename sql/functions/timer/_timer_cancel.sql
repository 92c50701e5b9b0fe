-- purpose: removes a pending timer; answers its transaction id, null when there is none
-- locks in order: timer (queue, key)
-- raises: 40001 in a caller's transaction that cannot see who was first
-- idempotent how: a second call finds none
-- index used: timer_pkey
-- One that is being fired is waited for, and is then gone.
create or replace function lockstep._timer_cancel(p_queue text, p_key text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_tx text;
begin
  delete from timer t where t.queue_name = p_queue and t.key = p_key and t.revision >= 0 returning t.transaction_id into v_tx;
  return v_tx;
end
$$;
