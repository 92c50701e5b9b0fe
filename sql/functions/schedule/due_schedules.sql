-- purpose: schedules whose next slot has come, with the instant by which that was judged
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: schedule_due, workflow_version_pkey
create or replace function lockstep.due_schedules(p_limit int)
returns table (name text, cron text, zone text, interval_ms bigint, next_at text, now text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select s.name, s.cron, s.zone, s.interval_ms, lockstep.instant_text(s.next_at), lockstep.instant_text(v_now)
      from schedule s
     where s.next_at <= v_now and not s.paused
     -- Those that nobody can start come last: they stay due, and many of them would hold up all others.
     order by exists (select 1 from workflow_version w where w.name = s.target) desc, s.next_at limit p_limit;
end
$$;
