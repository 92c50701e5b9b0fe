-- purpose: writes a value inside the caller's own transaction if the key has none; else answers exists and what is there
-- locks in order: kv (ns, key): no key update until the caller's commit
-- raises: LS402 kv_bad_request, LS413 payload_too_large
-- idempotent how: a second call answers exists
-- index used: kv_pkey
-- Example: select applied from lockstep.kv_put_if_absent('locks', 'nightly', '{"by":"me"}', p_ttl => '10 minutes');
create or replace function lockstep.kv_put_if_absent(
  p_ns text, p_key text, p_value json, p_ttl interval default null, p_forever boolean default false,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  select o.* into applied, reason, version, value
    from lockstep._kv_one('putIfAbsent', p_ns, p_key, p_value::text, null, p_ttl, p_forever, null, null, null) o;
end
$$;
