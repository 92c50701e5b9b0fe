-- purpose: stops a schedule from firing, or lets it fire again from its next slot after now
-- locks in order: schedule
-- raises: LS425
-- idempotent how: a schedule that is so already stays so
-- index used: schedule_pkey
-- Slots that passed while it was paused are not made up for.
create or replace function lockstep.pause_schedule(p_name text, p_paused boolean, p_next_at timestamptz) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  perform 1 from schedule s where s.name = p_name for no key update;
  if not found then
    return false;
  end if;
  v_now := lockstep.clock();
  update schedule s
     set paused = p_paused, updated_at = v_now,
         next_at = case when s.paused and not p_paused and s.next_at <= v_now then p_next_at else s.next_at end
   where s.name = p_name;
  return true;
end
$$;
