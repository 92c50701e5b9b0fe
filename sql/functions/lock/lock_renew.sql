-- purpose: gives a held lock or permit a new life; answers its new token, null when it is lost
-- locks in order: kv (ns, key): the permit's row until the caller's commit
-- raises: LS432 locks_bad_request, LS425 isolation_not_supported
-- idempotent how: through the owner: its own stale token is carried through
-- index used: kv_pkey
-- Example: select lockstep.lock_renew('nightly', 17, '10 minutes', p_owner => 'me');
create or replace function lockstep.lock_renew(p_name text, p_token bigint, p_ttl interval, p_slot int default 0, p_owner text default null)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_demand(p_name, p_ttl, p_owner, 1);
  return lockstep._lock_renew(p_name, p_slot, p_token, p_owner, ceil(extract(epoch from p_ttl))::bigint);
end
$$;
