-- purpose: what an ack call said about a lane, so that the same call sent again is recognised
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._ack_digest(p_transaction_id text[], p_offset bigint[], p_status text[]) returns text
language sql immutable
as $$
  select pg_catalog.md5(pg_catalog.array_to_string(p_transaction_id, ',', '-') || '|'
    || pg_catalog.array_to_string(p_offset, ',', '-') || '|' || pg_catalog.array_to_string(p_status, ','))
$$;
