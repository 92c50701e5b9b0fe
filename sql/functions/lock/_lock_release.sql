-- purpose: gives a permit back; false when it is lost already
-- locks in order: kv (ns, key): the permit's row
-- raises: nothing
-- idempotent how: a second call finds it lost and changes nothing
-- index used: kv_pkey
create or replace function lockstep._lock_release(p_name text, p_slot int, p_token bigint) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_key text := p_name || '#' || p_slot;
  v_now timestamptz;
  v_version bigint;
begin
  perform 1 from kv k where k.ns = 'queen-locks' and k.key = v_key for no key update;
  v_now := lockstep.clock();
  perform 1 from kv k where k.ns = 'queen-locks' and k.key = v_key and k.version = p_token
                        and (k.expires_at is null or k.expires_at > v_now);
  if not found then
    return false;
  end if;
  v_version := nextval('lockstep.kv_version');
  update kv k set value = 'null', version = v_version, expires_at = '-infinity', updated_at = v_now
   where k.ns = 'queen-locks' and k.key = v_key;
  return true;
end
$$;
