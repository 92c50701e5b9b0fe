-- purpose: settles due slots of a schedule and starts their runs, in one commit; nothing when another process was first
-- locks in order: schedule, then what submit locks
-- raises: LS404 not_found when nobody registered the target: the slots stay due; LS425
-- idempotent how: the slot row is the key, and the expected slot the fence
-- index used: schedule_pkey, schedule_slot_pkey
-- p_slots: the due slots in order, each computed from the one before; p_next_at: the first one after them,
-- which is due itself where more were missed than one call settles: then none of these is the last.
create or replace function lockstep.fire_schedule(
  p_name text, p_expected timestamptz, p_slots timestamptz[], p_ids uuid[], p_next_at timestamptz, p_grace_ms bigint) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_schedule schedule;
  v_now timestamptz;
  v_slot timestamptz;
  v_outcome text;
  v_run uuid;
  v_fired int := 0;
begin
  perform lockstep._demand_read_committed();
  select * into v_schedule from schedule s where s.name = p_name for no key update skip locked;
  -- The expected slot is the fence: whoever settled it first moved it on.
  if not found or v_schedule.paused or v_schedule.next_at is distinct from p_expected then
    return 0;
  end if;
  v_now := lockstep.clock();
  for i in 1 .. cardinality(p_slots) loop
    v_slot := p_slots[i];
    exit when v_slot > v_now;
    v_run := null;
    v_outcome := 'fired';
    if v_slot < v_now - make_interval(secs => p_grace_ms / 1000.0)
       and (v_schedule.misfire = 'skip' or (v_schedule.misfire = 'once' and (i < cardinality(p_slots) or p_next_at <= v_now))) then
      v_outcome := 'missed';
    elsif v_schedule.overlap = 'skip' and v_schedule.last_run is not null and (
      select n.finished_at is null from node n where n.run_id = v_schedule.last_run and n.ordinal = 0) then
      v_outcome := 'overlapped';
    end if;
    if v_outcome = 'fired' then
      v_run := lockstep._start_scheduled(v_schedule, p_ids[i], v_slot);
      v_schedule.last_run := v_run;
      v_fired := v_fired + 1;
    end if;
    insert into schedule_slot (schedule, due_at, outcome, run_id, settled_at) values (p_name, v_slot, v_outcome, v_run, v_now)
      on conflict do nothing;
  end loop;
  update schedule s set next_at = p_next_at, last_run = v_schedule.last_run where s.name = p_name;
  return v_fired;
end
$$;
