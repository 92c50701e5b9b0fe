-- purpose: dead letters of live queues by queue, group, cause and the first line of their error, the most frequent first
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_time
-- Of each queue the thousand youngest are looked at.
create or replace function lockstep.dead_letter_causes(p_limit int default 100)
returns table (queue text, group_name text, cause text, error text, letters bigint, first_at text, last_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select q.name, d.group_name, d.cause, d.error, count(*), lockstep.instant_text(min(d.failed_at)), lockstep.instant_text(max(d.failed_at))
    from queue q
   cross join lateral (
     select l.group_name, l.cause, left(split_part(l.error, E'\n', 1), 200) as error, l.failed_at
       from dead_letter l where l.queue_id = q.id order by l.failed_at desc limit 1000) d
   where q.deleted_at is null
   group by q.name, d.group_name, d.cause, d.error
   order by count(*) desc, q.name
   limit p_limit
$$;
