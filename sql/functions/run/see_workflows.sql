-- purpose: says that a live worker has these workflows and actions; doctor tells by it what waits for nobody
-- locks in order: workflow_version (SKIP LOCKED)
-- raises: nothing
-- idempotent how: a version seen within 20 seconds stays as it is
-- index used: workflow_version_pkey
create or replace function lockstep.see_workflows(p_name text[], p_version text[]) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_count int;
begin
  update workflow_version w
     set last_seen_at = v_now
    from (select v.name, v.version from unnest(p_name, p_version) i(name, version)
           join workflow_version v on v.name = i.name and v.version = i.version
           where v.last_seen_at < v_now - interval '20 seconds' for no key update of v skip locked) d
   where w.name = d.name and w.version = d.version;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
