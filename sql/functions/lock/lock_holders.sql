-- purpose: who holds a lock or the permits of a semaphore
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
-- Example: select slot, owner, expires_at from lockstep.lock_holders('nightly');
create or replace function lockstep.lock_holders(p_name text)
returns table (slot int, owner text, token bigint, since text, expires_at text, renewed_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query select p.* from lockstep._lock_permits(p_name, v_now) p;
end
$$;
