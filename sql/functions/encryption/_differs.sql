-- purpose: whether two payloads of one transaction id are different ones; sealed ones are compared by the keyed hashes that they
--   carry, one per key of their writer
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
-- Null when one is absent. A plain one and a sealed one cannot be compared and count as different, so that neither is lost.
create or replace function lockstep._differs(p_one text, p_other text) returns boolean
language sql immutable parallel safe
as $$
  select case
    when p_one = p_other then false
    when pg_catalog.left(p_one, 3) = '$1:' and pg_catalog.left(p_other, 3) = '$1:' then not (
      pg_catalog.string_to_array(pg_catalog.split_part(pg_catalog.left(p_one, 2000), ':', 3), ',')
        && pg_catalog.string_to_array(pg_catalog.split_part(pg_catalog.left(p_other, 2000), ':', 3), ','))
    else p_one <> p_other end
$$;
