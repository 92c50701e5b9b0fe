-- purpose: takes back the rows that _timer_lock made for keys which stayed without a timer
-- locks in order: none (the caller holds the rows)
-- raises: nothing
-- idempotent how: a row that holds a timer stays
-- index used: timer_pkey
create or replace function lockstep._timer_unlock(p_queue text[], p_key text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  delete from timer t
   using (select distinct u.queue, u.key from unnest(p_queue, p_key) u(queue, key)) k
   where t.queue_name = k.queue and t.key = k.key and t.revision = -1;
end
$$;
