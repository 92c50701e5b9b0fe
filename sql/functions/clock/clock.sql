-- purpose: the only clock: leases, delays, expiry and creation times are judged by it; the testing kit replaces its body
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: none
create or replace function lockstep.clock() returns timestamptz
language sql volatile parallel safe
as $$ select pg_catalog.clock_timestamp() $$;
