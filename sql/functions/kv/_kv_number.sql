-- purpose: the exact decimal a value's JSON text stands for; null when it is no number, or one too long to count with
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._kv_number(p_value text) returns numeric
language sql immutable parallel safe
as $$
  select case when pg_catalog.octet_length(p_value) <= 1000
      and p_value ~ '^\s*-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?\s*$' then p_value::numeric end
$$;
