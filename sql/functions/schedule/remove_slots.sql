-- purpose: forgets slots that were settled more than 30 days ago, a bounded number at a time
-- locks in order: none (SKIP LOCKED)
-- raises: nothing
-- idempotent how: what is gone is gone
-- index used: schedule_slot_age
create or replace function lockstep.remove_slots(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_count int;
begin
  delete from schedule_slot s
   using (select u.schedule, u.due_at from schedule_slot u where u.settled_at < v_now - interval '30 days'
           order by u.settled_at limit p_limit for update skip locked) d
   where s.schedule = d.schedule and s.due_at = d.due_at;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
