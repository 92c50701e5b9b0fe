-- purpose: the ephemeral queues that were declared, by name
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: ephemeral_queue_pkey
create or replace function lockstep.declared_ephemeral(p_limit int default 10000) returns table (name text, options text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$ select e.name, e.options from ephemeral_queue e order by e.name limit p_limit $$;
