-- purpose: reads the keys that begin with a prefix, in byte order, as the caller's transaction sees them
-- locks in order: none
-- raises: LS402 kv_bad_request
-- idempotent how: reads only
-- index used: kv_pkey
-- Example: select key from lockstep.kv_get_prefix('orders', 'acme/', 100, 'acme/o-17');  -- the next hundred after that key
create or replace function lockstep.kv_get_prefix(p_ns text, p_prefix text, p_limit int default 100, p_after text default null)
returns table (key text, value text, version bigint, expires_at timestamptz, updated_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._kv_demand(array['getPrefix'], array[p_ns], array[p_prefix], array[null::text]);
  -- No key of 512 bytes that begins with the prefix sorts after the prefix and 128 times the last character.
  return query
    select k.key, k.value, k.version, k.expires_at, k.updated_at
      from kv k
     where k.ns = p_ns and k.key >= p_prefix and k.key > coalesce(p_after, '')
       and k.key <= p_prefix || repeat(chr(1114111), 128)
       and (k.expires_at is null or k.expires_at > v_now)
     order by k.key
     limit least(greatest(p_limit, 0), 1000);  -- LIMITS.kvPrefixLimit
end
$$;
