-- purpose: gives a live permit a new life and a new, higher token; answers it, null when the permit is lost
-- locks in order: kv (ns, key): the permit's row
-- raises: nothing
-- idempotent how: through the owner: its own stale token is carried through
-- index used: kv_pkey
create or replace function lockstep._lock_renew(p_name text, p_slot int, p_token bigint, p_owner text, p_ttl bigint) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_key text := p_name || '#' || p_slot;
  v_now timestamptz;
  v_row kv;
  v_value text;
  v_token bigint;
begin
  perform 1 from kv k where k.ns = 'queen-locks' and k.key = v_key for no key update;
  v_now := lockstep.clock();
  select * into v_row from kv k
   where k.ns = 'queen-locks' and k.key = v_key and (k.expires_at is null or k.expires_at > v_now);
  if not found or (v_row.version <> p_token and lockstep._lock_owner(v_row.value, 'owner') is distinct from coalesce(p_owner, '')) then
    return null;
  end if;
  v_value := json_build_object('owner', lockstep._lock_owner(v_row.value, 'owner'), 'since',
    coalesce(lockstep._lock_owner(v_row.value, 'since'), lockstep.instant_text(v_row.updated_at)))::text;
  v_token := nextval('lockstep.kv_version');
  update kv k set value = v_value, version = v_token, expires_at = v_now + make_interval(secs => p_ttl), updated_at = v_now
   where k.ns = 'queen-locks' and k.key = v_key;
  return v_token;
end
$$;
