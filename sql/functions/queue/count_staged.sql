-- purpose: how many staged messages wait to be placed, counted to 10,001 at most, and of how many queues
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: staged_pkey
create or replace function lockstep.count_staged()
returns table (messages bigint, queues bigint)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select count(*), count(distinct waiting.queue_name)
    from (select s.queue_name from staged s limit 10001) waiting
$$;
