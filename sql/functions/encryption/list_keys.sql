-- purpose: the encryption keys that processes of this database have used, by name
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: none: as many rows as keys were ever used
create or replace function lockstep.list_keys() returns table (id text, mark text, first_seen_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select k.id, k.mark, lockstep.instant_text(k.first_seen_at) from encryption_key k order by k.first_seen_at, k.id
$$;
