-- purpose: writes what a workflow looks like, so that SQL, HTTP and people know it without its code
-- locks in order: workflow_version
-- raises: nothing
-- idempotent how: an unchanged version is only marked as seen, three times a minute at most
-- index used: workflow_version_pkey
create or replace function lockstep.register_workflow(p_name text, p_version text, p_kind text, p_shape text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  insert into workflow_version (name, version, kind, shape, registered_at, last_seen_at)
    values (p_name, p_version, p_kind, p_shape, v_now, v_now)
    on conflict (name, version) do update set last_seen_at = excluded.last_seen_at
     where workflow_version.last_seen_at < v_now - interval '20 seconds';
end
$$;
