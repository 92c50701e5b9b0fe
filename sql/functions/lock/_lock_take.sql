-- purpose: takes the permit of one slot if nobody has it; answers its token, 0 when it is held, -1 when its row is in use
-- locks in order: kv (ns, key), SKIP LOCKED
-- raises: nothing
-- idempotent how: none: a second call finds it held
-- index used: kv_pkey
create or replace function lockstep._lock_take(p_key text, p_value text, p_ttl bigint) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_token bigint;
begin
  insert into kv (ns, key, value, version, expires_at, updated_at)
    values ('queen-locks', p_key, 'null', 0, '-infinity', v_now) on conflict do nothing;
  perform 1 from kv k where k.ns = 'queen-locks' and k.key = p_key for no key update skip locked;
  if not found then
    return -1;
  end if;
  -- Under the lock: another may have taken it, and released it again, since it was looked at.
  v_now := lockstep.clock();
  perform 1 from kv k where k.ns = 'queen-locks' and k.key = p_key and (k.expires_at is null or k.expires_at > v_now);
  if found then
    return 0;
  end if;
  v_token := nextval('lockstep.kv_version');
  update kv k set value = p_value, version = v_token, expires_at = v_now + make_interval(secs => p_ttl), updated_at = v_now
   where k.ns = 'queen-locks' and k.key = p_key;
  return v_token;
end
$$;
