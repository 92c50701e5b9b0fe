-- purpose: removes the dead letters of one message, of all groups
-- locks in order: dead letter
-- raises: nothing
-- idempotent how: what is removed is gone; answers how many
-- index used: dead_letter_message
create or replace function lockstep.purge_message_letters(p_queue_id int, p_partition_id bigint, p_transaction_id text)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_hash bigint := lockstep.tx_hash(p_partition_id, p_transaction_id);
  v_count bigint;
begin
  delete from dead_letter d
   where d.queue_id = p_queue_id and d.tx_hash = v_hash and d.partition_id = p_partition_id
     and d.transaction_id = p_transaction_id
     and exists (select 1 from queue q where q.id = p_queue_id and q.deleted_at is null);
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform lockstep._audit('purge_message_letters', json_build_object('queueId', p_queue_id, 'partitionId', p_partition_id,
      'transactionId', left(p_transaction_id, 512)), json_build_object('deleted', v_count));
  end if;
  return v_count;
end
$$;
