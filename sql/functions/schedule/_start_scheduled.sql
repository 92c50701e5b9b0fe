-- purpose: starts the run of one slot; its key names the slot, so that a slot never has two
-- locks in order: none
-- raises: LS404 not_found
-- idempotent how: one run per (target, key)
-- index used: run_key_pkey, node_pkey
create or replace function lockstep._start_scheduled(p_schedule schedule, p_id uuid, p_slot timestamptz) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_run uuid;
begin
  select s.run_id into v_run
    from lockstep.submit_joined(array[p_id], array[p_schedule.target], array[null::text], array[null::text], array[null::text],
      array['schedule:' || p_schedule.name || '@' || lockstep.instant_text(p_slot)], array[p_schedule.input], array[nullif(p_schedule.priority, 0)],
      array[null::bigint], array[array['schedule:' || p_schedule.name]::text], array[null::bigint], array[null::int], array[null::bigint],
      array[null::bigint], array[null::text], array[null::int], array[null::bigint], array[null::uuid], array[null::int], '{}', '{}', '{}') s;
  update node n set occurrence = p_slot where n.run_id = v_run and n.ordinal = 0;
  return v_run;
end
$$;
