-- purpose: the steps that a run of code has recorded, oldest first, for people
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: step_pkey
-- state: done | returned or failed (an action) | sleeping | waiting, then heard (a signal) | called (a run of its own). child: that run.
-- What sleeps or waits has its end in due_at, and is over when it has come.
create or replace function lockstep.run_steps(p_run uuid, p_limit int)
returns table (name text, state text, output text, child text, due_at text, over boolean, created_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select s.name, s.state, case when s.state <> 'called' then s.output end, case when s.state = 'called' then s.output end,
           lockstep.instant_text(s.due_at), s.due_at <= v_now, lockstep.instant_text(s.created_at)
      from step s where s.run_id = p_run order by s.created_at, s.name limit p_limit;
end
$$;
