-- purpose: writes what _kv_judge found; of several writes to one key the one with the highest version stays
-- locks in order: none (the caller holds every row through _kv_lock)
-- raises: nothing
-- idempotent how: the versions were drawn by the judge; the same call writes the same rows
-- index used: kv_pkey
create or replace function lockstep._kv_write(
  p_now timestamptz, p_ns text[], p_key text[], p_value text[], p_version bigint[], p_expires_at timestamptz[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
begin
  update kv k set value = w.value, version = w.version, expires_at = w.expires_at, updated_at = p_now
    from (select distinct on (u.ns, u.key) u.ns, u.key, u.value, u.version, u.expires_at
            from unnest(p_ns, p_key, p_value, p_version, p_expires_at) u(ns, key, value, version, expires_at)
           order by u.ns, u.key, u.version desc) w
   where k.ns = w.ns and k.key = w.key;
end
$$;
