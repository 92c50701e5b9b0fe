-- purpose: holds a key at a version (0: absent) until the caller's commit, without writing it
-- locks in order: kv (ns, key): share until the caller's commit
-- raises: LS402 kv_bad_request
-- idempotent how: through p_expect
-- index used: kv_pkey
-- Example: select applied from lockstep.kv_check('locks', 'nightly', 17);
create or replace function lockstep.kv_check(
  p_ns text, p_key text, p_expect bigint,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_expect is null then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = 'p_expect must be a version, or 0 for absent';
  end if;
  select o.* into applied, reason, version, value
    from lockstep._kv_one('check', p_ns, p_key, null, p_expect, null, null, null, null, null) o;
end
$$;
