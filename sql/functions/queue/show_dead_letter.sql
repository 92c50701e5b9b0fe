-- purpose: one dead letter by its id, in the columns of list_dead_letters; no row when there is none
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_pkey
create or replace function lockstep.show_dead_letter(p_id uuid)
returns table (queue_id int, id uuid, transaction_id text, message_id uuid, partition_id bigint, queue text, partition text,
  group_name text, message_offset bigint, cause text, error text, failures int, crashes int, payload text, trace_id text,
  producer_sub text, created_at text, failed_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  -- The id alone does not say where the row is: each queue is asked by its key.
  select d.queue_id, d.id, d.transaction_id, d.message_id, d.partition_id, q.name, d.partition_name, d.group_name, d."offset",
         d.cause, d.error, d.failures, d.crashes, d.payload, d.trace_id, d.producer_sub,
         lockstep.instant_text(d.created_at), lockstep.instant_text(d.failed_at)
    from queue q
   cross join lateral (select * from dead_letter l where l.queue_id = q.id and l.id = p_id limit 1) d
   where q.deleted_at is null
$$;
