-- purpose: dead letters of live queues, newest first; a null filter matches all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_time, queue_live_name
-- A page ends early where its payloads reach p_bytes, after one row at least; is_cut then says so on every row.
create or replace function lockstep.list_dead_letters(
  p_queue text default null, p_group text default null, p_partition text default null, p_from timestamptz default null,
  p_to timestamptz default null, p_limit int default 100, p_skip int default 0,
  p_bytes int default 8388608, p_error text default null)
returns table (queue_id int, id uuid, transaction_id text, message_id uuid, partition_id bigint, queue text, partition text,
  group_name text, message_offset bigint, cause text, error text, failures int, crashes int, payload text, trace_id text,
  producer_sub text, created_at text, failed_at text, is_cut boolean)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with page as (
  select q.name as queue, d.*
    from queue q
   cross join lateral (
     select * from dead_letter d
      where d.queue_id = q.id
        and (p_group is null or d.group_name = p_group) and (p_partition is null or d.partition_name = p_partition)
        and (p_from is null or d.failed_at >= p_from) and (p_to is null or d.failed_at < p_to)
        and (p_error is null or strpos(d.error, p_error) > 0)
      order by d.failed_at desc, d.id desc
      limit p_limit + p_skip) d
   where q.deleted_at is null and (p_queue is null or q.name = p_queue)
   order by d.failed_at desc, d.id desc
   limit p_limit offset p_skip
  ), sized as (
    select g.*, row_number() over o as nth,
           coalesce(sum(octet_length(g.payload)) over (o rows between unbounded preceding and 1 preceding), 0) as before
      from page g
    window o as (order by g.failed_at desc, g.id desc)
  )
  select z.queue_id, z.id, z.transaction_id, z.message_id, z.partition_id, z.queue, z.partition_name, z.group_name, z."offset",
         z.cause, z.error, z.failures, z.crashes, z.payload, z.trace_id, z.producer_sub,
         lockstep.instant_text(z.created_at), lockstep.instant_text(z.failed_at),
         exists (select from sized y where y.before >= p_bytes)
    from sized z
   where z.before < p_bytes
   order by z.nth
$$;
