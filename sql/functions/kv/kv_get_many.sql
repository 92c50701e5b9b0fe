-- purpose: reads the values of several keys as the caller's transaction sees them; a row for each key that is there
-- locks in order: none
-- raises: LS402 kv_bad_request
-- idempotent how: reads only
-- index used: kv_pkey
-- Example: select key, value::jsonb from lockstep.kv_get_many('orders', array['o-1', 'o-2']);
create or replace function lockstep.kv_get_many(p_ns text, p_keys text[])
returns table (key text, value text, version bigint, expires_at timestamptz, updated_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._kv_demand(array_fill('getMany'::text, array[n]), array_fill(p_ns, array[n]), p_keys, array_fill(null::text, array[n]))
     from cardinality(p_keys) n where n > 0;
  return query
    select k.key, k.value, k.version, k.expires_at, k.updated_at
      from kv k
     where k.ns = p_ns and k.key = any (p_keys) and (k.expires_at is null or k.expires_at > v_now)
     order by k.key;
end
$$;
