-- purpose: reads one value as the caller's transaction sees it; always one row, of version 0 when the key is absent
-- locks in order: none
-- raises: LS402 kv_bad_request
-- idempotent how: reads only
-- index used: kv_pkey
-- Example: select value::jsonb, version from lockstep.kv_get('orders', 'o-1');
create or replace function lockstep.kv_get(
  p_ns text, p_key text,
  out value text, out version bigint, out expires_at timestamptz, out updated_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._kv_demand(array['get'], array[p_ns], array[p_key], array[null::text]);
  select k.value, k.version, k.expires_at, k.updated_at into value, version, expires_at, updated_at
    from kv k
   where k.ns = p_ns and k.key = p_key and (k.expires_at is null or k.expires_at > v_now);
  version := coalesce(version, 0);
end
$$;
