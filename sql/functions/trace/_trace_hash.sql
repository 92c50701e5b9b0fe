-- purpose: eight bytes of the address of a traced message: transaction ids may be longer than an index entry
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._trace_hash(p_partition_id text, p_transaction_id text) returns bigint
language sql immutable parallel safe
as $$
  select ('x' || pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256(
    pg_catalog.convert_to(p_partition_id || ' ' || p_transaction_id, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
$$;
