-- purpose: for how many seconds the oldest due timer has been waiting; 0 while none is due, null when none is pending
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: timer_due
create or replace function lockstep.timers_late() returns int
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return (select greatest(floor(extract(epoch from v_now - t.fire_at)), 0)::int
            from timer t where t.fire_at < 'infinity' order by t.fire_at limit 1);
end
$$;
