-- purpose: partitions of live queues by their last push, the longest silent first, with what they hold
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_pkey
-- Of each queue at most a thousand partitions are looked at.
create or replace function lockstep.partition_liveness(p_limit int default 100)
returns table (queue text, partition text, last_pushed_at text, messages bigint)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select q.name, p.name, lockstep.instant_text(p.last_pushed_at), p.next_offset - p.log_start
    from queue q
   cross join lateral (select * from partition u where u.queue_id = q.id order by u.id limit 1000) p
   where q.deleted_at is null
   order by p.last_pushed_at nulls first, q.name, p.name
   limit p_limit
$$;
