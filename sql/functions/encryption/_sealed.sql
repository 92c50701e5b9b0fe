-- purpose: whether a payload is sealed; no JSON begins like this
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._sealed(p_payload text) returns boolean
language sql immutable parallel safe
as $$
  select pg_catalog.left(p_payload, 3) = '$1:'
$$;
