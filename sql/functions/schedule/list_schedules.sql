-- purpose: all schedules, with what became of their last slots
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: schedule_pkey
-- A schedule's input is its definition, not a payload of a message.
create or replace function lockstep.list_schedules(p_name text)
returns table (name text, cron text, zone text, interval_ms bigint, target text, input text, priority int, misfire text, overlap text, paused boolean,
               next_at text, last_run uuid, last_slots text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return query
    select s.name, s.cron, s.zone, s.interval_ms, s.target, s.input, s.priority, s.misfire, s.overlap, s.paused,
           lockstep.instant_text(s.next_at), s.last_run,
           (select coalesce(json_agg(json_build_object('dueAt', lockstep.instant_text(t.due_at), 'outcome', t.outcome, 'runId', t.run_id)
                            order by t.due_at desc), '[]')::text
              from (select * from schedule_slot u where u.schedule = s.name order by u.due_at desc limit 5) t)
      from schedule s
     where p_name is null or s.name = p_name
     order by s.name;
end
$$;
