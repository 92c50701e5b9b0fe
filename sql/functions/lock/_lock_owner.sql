-- purpose: a text that stands in a permit's value (owner, since); null when it is none, or was written by somebody else's hand
-- locks in order: none
-- raises: nothing for a value of ours; anybody may write the rows as key/value, and then an escape is not looked into
-- idempotent how: pure
-- index used: none
create or replace function lockstep._lock_owner(p_value text, p_name text) returns text
language sql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$ select case when p_value like '{%' and strpos(p_value, chr(92) || 'u') = 0 then p_value::json ->> p_name end $$;
