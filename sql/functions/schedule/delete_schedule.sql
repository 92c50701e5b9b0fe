-- purpose: removes a schedule and its slots; runs that it started go on
-- locks in order: schedule
-- raises: LS425
-- idempotent how: what is not there answers false
-- index used: schedule_pkey
create or replace function lockstep.delete_schedule(p_name text) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform lockstep._demand_read_committed();
  delete from schedule s where s.name = p_name;
  if not found then
    return false;
  end if;
  delete from schedule_slot s where s.schedule = p_name;
  perform lockstep._audit('delete_schedule', json_build_object('schedule', p_name), json_build_object('deleted', true));
  return true;
end
$$;
