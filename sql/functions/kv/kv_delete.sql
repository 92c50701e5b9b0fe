-- purpose: removes a value inside the caller's own transaction; reason absent when there was none
-- locks in order: kv (ns, key): no key update until the caller's commit
-- raises: LS402 kv_bad_request
-- idempotent how: through p_expect
-- index used: kv_pkey
-- Example: select applied from lockstep.kv_delete('orders', 'o-1', p_expect => 17);
create or replace function lockstep.kv_delete(
  p_ns text, p_key text, p_expect bigint default null,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  select o.* into applied, reason, version, value
    from lockstep._kv_one('delete', p_ns, p_key, null, p_expect, null, null, null, null, null) o;
end
$$;
