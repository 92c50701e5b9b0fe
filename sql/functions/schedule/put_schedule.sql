-- purpose: creates or changes a schedule; an unchanged definition changes nothing, from any number of processes
-- locks in order: schedule
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the definition is compared; two processes meet on the name
-- index used: schedule_pkey
create or replace function lockstep.put_schedule(
  p_name text, p_cron text, p_zone text, p_interval_ms bigint, p_target text, p_input text, p_priority int, p_misfire text, p_overlap text,
  p_next_at timestamptz) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz;
  v_old schedule;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._demand_name('schedule', p_name), lockstep._demand_name('target', p_target);
  v_now := lockstep.clock();
  insert into schedule (name, cron, zone, interval_ms, target, input, priority, misfire, overlap, next_at, created_at, updated_at)
    values (p_name, p_cron, p_zone, p_interval_ms, p_target, p_input, p_priority, p_misfire, p_overlap, p_next_at, v_now, v_now)
    on conflict (name) do nothing;
  if found then
    return 'created';
  end if;
  select * into v_old from schedule s where s.name = p_name for no key update;
  if row(v_old.cron, v_old.zone, v_old.interval_ms, v_old.target, v_old.input, v_old.priority, v_old.misfire, v_old.overlap)
     is not distinct from row(p_cron, p_zone, p_interval_ms, p_target, p_input, p_priority, p_misfire, p_overlap) then
    return 'unchanged';
  end if;
  update schedule s
     set cron = p_cron, zone = p_zone, interval_ms = p_interval_ms, target = p_target, input = p_input, priority = p_priority,
         misfire = p_misfire, overlap = p_overlap, updated_at = v_now,
         -- Only another rhythm moves the next slot.
         next_at = case when row(v_old.cron, v_old.zone, v_old.interval_ms) is not distinct from row(p_cron, p_zone, p_interval_ms)
                        then s.next_at else p_next_at end
   where s.name = p_name;
  return 'changed';
end
$$;
