-- purpose: a UUIDv7 for callers that mint none (psql); the time in it is a hint, nothing is ordered by it
-- locks in order: none
-- raises: nothing
-- idempotent how: a new value each time
-- index used: none
create or replace function lockstep.uuid7() returns uuid
language sql volatile parallel safe
as $$
  select (pg_catalog.lpad(pg_catalog.to_hex((extract(epoch from lockstep.clock()) * 1000)::bigint), 12, '0')
    || '7' || pg_catalog.substr(r, 14, 3) || pg_catalog.substr(r, 17))::uuid
  from (select pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', '') as r) fresh
$$;
