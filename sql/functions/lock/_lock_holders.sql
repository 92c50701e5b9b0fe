-- purpose: who holds a lock or semaphore, as the JSON list of a refusal
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
create or replace function lockstep._lock_holders(p_name text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return (select coalesce(json_agg(json_build_object('slot', p.slot, 'owner', p.owner) order by p.slot), '[]'::json)::text
            from lockstep._lock_permits(p_name, v_now) p);
end
$$;
