-- purpose: an instant as ISO-8601 UTC text with microseconds, whatever the session's zone and date style
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep.instant_text(p_instant timestamptz) returns text
language sql stable parallel safe
as $$ select pg_catalog.to_char(p_instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;
