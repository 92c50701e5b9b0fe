-- purpose: writes a value inside the caller's own transaction; a lost expectation is an answer, never an error
-- locks in order: kv (ns, key): no key update until the caller's commit
-- raises: LS402 kv_bad_request, LS413 payload_too_large
-- idempotent how: through p_expect
-- index used: kv_pkey
-- Example: select * from lockstep.kv_put('orders', 'o-1', '{"status":"paid"}', p_ttl => '30 days', p_expect => 17);
create or replace function lockstep.kv_put(
  p_ns text, p_key text, p_value json, p_ttl interval default null, p_forever boolean default false,
  p_expect bigint default null,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  select o.* into applied, reason, version, value
    from lockstep._kv_one('put', p_ns, p_key, p_value::text, p_expect, p_ttl, p_forever, null, null, null) o;
end
$$;
