-- purpose: the answer of a step that committed, from its key/value answer, the list of what was done, and that of its
--   timers
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._step_won(p_kv text, p_done text, p_timers text) returns text
language sql immutable
as $$ select '{"success":true,"kv":' || p_kv || ',"operations":[' || pg_catalog.substr(p_done, 2) 
  || '],"timers":[' || p_timers || ']}' $$;
