-- purpose: the live permits of a lock or semaphore
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
-- A permit is a key/value row: ns queen-locks, key name#slot, its version the token. '$' is the character behind '#'.
create or replace function lockstep._lock_permits(p_name text, p_now timestamptz)
returns table (slot int, owner text, token bigint, since text, expires_at text, renewed_at text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select substr(k.key, length(p_name) + 2)::int, lockstep._lock_owner(k.value, 'owner'), k.version,
           coalesce(lockstep._lock_owner(k.value, 'since'), lockstep.instant_text(k.updated_at)), lockstep.instant_text(k.expires_at),
           case when lockstep._lock_owner(k.value, 'since') is not null then lockstep.instant_text(k.updated_at) end
      from kv k
     where k.ns = 'queen-locks' and k.key >= p_name || '#' and k.key < p_name || '$'
       and (k.expires_at is null or k.expires_at > p_now)
       and substr(k.key, length(p_name) + 2) ~ '^(0|[1-9][0-9]{0,3})$'
     order by 1;
end
$$;
