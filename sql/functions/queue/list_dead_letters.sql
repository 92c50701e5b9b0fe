-- purpose: dead letters of live queues, newest first; a null filter matches all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_time, queue_live_name
create or replace function lockstep.list_dead_letters(
  p_queue text default null, p_group text default null, p_partition text default null, p_from timestamptz default null,
  p_to timestamptz default null, p_limit int default 100, p_skip int default 0)
returns table (queue_id int, id uuid, transaction_id text, message_id uuid, partition_id bigint, queue text, partition text,
  group_name text, message_offset bigint, cause text, error text, failures int, crashes int, payload text, trace_id text,
  producer_sub text, created_at text, failed_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select d.queue_id, d.id, d.transaction_id, d.message_id, d.partition_id, q.name, d.partition_name, d.group_name, d."offset",
         d.cause, d.error, d.failures, d.crashes, d.payload, d.trace_id, d.producer_sub,
         lockstep.instant_text(d.created_at), lockstep.instant_text(d.failed_at)
    from queue q
   cross join lateral (
     select * from dead_letter d
      where d.queue_id = q.id
        and (p_group is null or d.group_name = p_group) and (p_partition is null or d.partition_name = p_partition)
        and (p_from is null or d.failed_at >= p_from) and (p_to is null or d.failed_at < p_to)
      order by d.failed_at desc, d.id desc
      limit p_limit + p_skip) d
   where q.deleted_at is null and (p_queue is null or q.name = p_queue)
   order by d.failed_at desc, d.id desc
   limit p_limit offset p_skip
$$;
