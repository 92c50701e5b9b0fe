-- purpose: whether a live queue takes sealed payloads only
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, encryption_key_pkey
create or replace function lockstep._demands_sealing(p_queue text) returns boolean
language sql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select exists (select from queue q where q.name = p_queue and q.deleted_at is null and q.encryption_enabled)
     and exists (select from encryption_key)
$$;
