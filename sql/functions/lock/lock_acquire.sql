-- purpose: takes a lock, or one of p_limit permits of a semaphore, for a time; reason held or contended when it is not to be had
-- locks in order: kv (ns, key): the permit's row, and name# of a semaphore, until the caller's commit
-- raises: LS432 locks_bad_request, LS425 isolation_not_supported
-- idempotent how: through the owner: the permit it holds is answered again with the same token
-- index used: kv_pkey
-- Others see it held when the caller commits. Example: select * from lockstep.lock_acquire('nightly', '10 minutes', 'me');
create or replace function lockstep.lock_acquire(
  p_name text, p_ttl interval, p_owner text default null, p_limit int default 1,
  out acquired boolean, out slot int, out token bigint, out reason text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_demand(p_name, p_ttl, p_owner, p_limit);
  select a.slot, a.token, a.reason into slot, token, reason
    from lockstep._lock_acquire(p_name, ceil(extract(epoch from p_ttl))::bigint, p_owner, p_limit) a;
  acquired := slot is not null;
  token := case when acquired then token end;
end
$$;
