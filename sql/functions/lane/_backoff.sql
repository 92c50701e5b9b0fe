-- purpose: the pause before a failed message comes again: the base doubled per failure, with up to a fifth of jitter on top,
--   clamped after the jitter and never below the base
-- locks in order: none
-- raises: nothing
-- idempotent how: a new value each time
-- index used: none
create or replace function lockstep._backoff(p_base_ms bigint, p_max_ms bigint, p_failures int) returns interval
language sql volatile
as $$
  select pg_catalog.make_interval(secs => greatest(least(p_base_ms, p_max_ms), least(p_max_ms,
    p_base_ms * pg_catalog.power(2, least(p_failures - 1, 40)) * (1 + pg_catalog.random() / 5))) / 1000.0)
$$;
