-- purpose: the id of the newest dead letter of a message, whichever group gave it up; null when it has none
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_message
create or replace function lockstep.dead_letter_of(p_queue_id int, p_partition_id bigint, p_transaction_id text) returns uuid
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select d.id from dead_letter d
   where d.queue_id = p_queue_id and d.tx_hash = lockstep.tx_hash(p_partition_id, p_transaction_id)
     and d.partition_id = p_partition_id and d.transaction_id = p_transaction_id
     and exists (select 1 from queue q where q.id = p_queue_id and q.deleted_at is null)
   order by d.failed_at desc, d.id desc limit 1
$$;
