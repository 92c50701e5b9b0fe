-- purpose: adds to a number, exactly, inside the caller's own transaction; an absent key counts as 0
-- locks in order: kv (ns, key): no key update until the caller's commit
-- raises: LS402 kv_bad_request
-- idempotent how: none: each call adds
-- index used: kv_pkey
-- Example: select value from lockstep.kv_incr('stock', 'sku-1', -2, p_forever => true, p_min => 0);
create or replace function lockstep.kv_incr(
  p_ns text, p_key text, p_delta numeric, p_ttl interval default null, p_forever boolean default false,
  p_min numeric default null, p_max numeric default null,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_delta is null or lockstep._kv_number(p_delta::text) is null then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = 'p_delta must be a number of at most 1000 characters';
  end if;
  select o.* into applied, reason, version, value
    from lockstep._kv_one('incr', p_ns, p_key, null, null, p_ttl, p_forever, p_delta, p_min, p_max) o;
end
$$;
