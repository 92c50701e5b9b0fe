-- purpose: forgets activity older than a week, a bounded number at a time
-- locks in order: none (SKIP LOCKED)
-- raises: nothing
-- idempotent how: what is gone is gone
-- index used: activity_minute
create or replace function lockstep.remove_activity(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_before timestamptz := lockstep.clock() - interval '7 days';
  v_count int;
begin
  delete from activity a
   using (select u.queue, u.minute from activity u where u.minute < v_before
           order by u.minute limit p_limit for no key update skip locked) d
   where a.queue = d.queue and a.minute = d.minute;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
