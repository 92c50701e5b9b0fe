-- purpose: starts a schedule's run now, outside of its slots
-- locks in order: schedule
-- raises: LS404 not_found, LS425
-- idempotent how: each call is one run
-- index used: schedule_pkey
create or replace function lockstep.trigger_schedule(p_name text, p_id uuid) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_schedule schedule;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_schedule from schedule s where s.name = p_name for no key update;
  if not found then
    raise exception using errcode = 'LS404', detail = 'not_found', message = 'no schedule is called ' || p_name;
  end if;
  v_now := lockstep.clock();
  update schedule s set last_run = p_id where s.name = p_name;
  return lockstep._start_scheduled(v_schedule, p_id, v_now);
end
$$;
