-- purpose: forgets at most 500 recorded answers whose 24 hours are over
-- locks in order: request (id), SKIP LOCKED
-- raises: nothing
-- idempotent how: judged again under the lock; an id taken anew meanwhile stays
-- index used: request_expiry, request_pkey
create or replace function lockstep.expire_requests() returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id text;
  v_now timestamptz := lockstep.clock();
  v_removed int := 0;
begin
  foreach v_id in array array(select r.id from request r where r.expires_at <= v_now order by r.expires_at limit 500) loop
    perform 1 from request r where r.id = v_id and r.expires_at <= v_now for no key update skip locked;
    continue when not found;
    delete from request r where r.id = v_id;
    v_removed := v_removed + 1;
  end loop;
  return v_removed;
end
$$;
