-- purpose: gives a lock or permit back; false when it is lost already
-- locks in order: kv (ns, key): the permit's row until the caller's commit
-- raises: LS432 locks_bad_request, LS425 isolation_not_supported
-- idempotent how: a second call finds it lost and changes nothing
-- index used: kv_pkey
-- Example: select lockstep.lock_release('nightly', 17);
create or replace function lockstep.lock_release(p_name text, p_token bigint, p_slot int default 0) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_demand(p_name, interval '1 second', null, 1);
  return lockstep._lock_release(p_name, p_slot, p_token);
end
$$;
