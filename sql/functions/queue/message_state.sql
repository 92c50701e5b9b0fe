-- purpose: where messages of one partition stand: dead_letter, processing under some group's live lease, completed by every
--   group, else pending
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: consumer_group_pkey, lane_pkey, dead_letter_message
create or replace function lockstep.message_state(
  p_queue_id int, p_partition_id bigint, p_offset bigint, p_tx_hash bigint, p_message_id uuid, p_now timestamptz) returns text
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select case
    when exists (select 1 from dead_letter d where d.queue_id = p_queue_id and d.partition_id = p_partition_id
                   and d.tx_hash = p_tx_hash and d.message_id = p_message_id) then 'dead_letter'
    when bool_or(l.lease_expires_at > p_now and l.committed <= p_offset and l.batch_end > p_offset) then 'processing'
    when bool_and(coalesce(l.committed > p_offset, false)) then 'completed'
    else 'pending' end
    from consumer_group g
    left join lane l on l.queue_id = g.queue_id and l.group_id = g.id and l.partition_id = p_partition_id
   where g.queue_id = p_queue_id
$$;
