-- purpose: the answer of a step that committed, from its key/value answer and the list of what was done
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._step_won(p_kv text, p_done text) returns text
language sql immutable
as $$ select '{"success":true,"kv":' || p_kv || ',"operations":[' || pg_catalog.substr(p_done, 2) || ']}' $$;
