-- purpose: the indexed form of a transaction id in its partition: eight bytes of sha256; full values are always compared too
-- locks in order: none
-- raises: nothing
-- idempotent how: pure; declared stable, as convert_to is, so that it is inlined
-- index used: none
create or replace function lockstep.tx_hash(p_partition_id bigint, p_transaction_id text) returns bigint
language sql stable parallel safe
as $$
  select ('x' || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(p_partition_id || ':' || p_transaction_id, 'UTF8')), 'hex'))::bit(64)::bigint
$$;
