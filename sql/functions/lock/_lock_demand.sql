-- purpose: refuses a lock operation of a wrong shape from callers that no door has checked
-- locks in order: none
-- raises: LS432 locks_bad_request
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._lock_demand(p_name text, p_ttl interval, p_owner text, p_limit int) returns void
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_wrong text := case
    when coalesce(octet_length(p_name), 0) not between 1 and 256 or p_name ~ '[#[:cntrl:]]'
      then 'the name of a lock must be 1 to 256 bytes, without # and control characters'
    when p_ttl is null or extract(epoch from p_ttl) not between 1 and 3155760000
      then 'say how long the lock lives: p_ttl => ''30 seconds'', from one second to a hundred years'
    when octet_length(p_owner) not between 1 and 256 or p_owner ~ '[[:cntrl:]]'
      then 'the owner of a lock must be 1 to 256 bytes, without control characters'
    when p_limit is null or p_limit not between 1 and 1024 then 'the limit of a semaphore must be from 1 to 1024' end; -- LIMITS.lockPermits
begin
  if v_wrong is not null then
    raise exception using errcode = 'LS432', detail = 'locks_bad_request', message = v_wrong;
  end if;
end
$$;
