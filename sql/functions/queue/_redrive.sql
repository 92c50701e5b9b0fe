-- purpose: stages the copy of one dead letter and removes its row; the caller holds the row and the target queue. A sealed one,
--   or one for an encrypted queue, is moved only with a payload that was sealed for the copy's id and place: else the result is sealed
-- locks in order: none (waits only for an open transaction that stages the same copy)
-- raises: nothing
-- idempotent how: the copy's transaction id is dlq:<id>
-- index used: staged_once, message_tx_hash, dead_letter_pkey
create or replace function lockstep._redrive(
  p_letter dead_letter, p_queue text, p_partition text, p_id uuid, p_payload text, out result text, out message_id uuid, out transaction_id text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id uuid := coalesce(p_id, lockstep.uuid7());
begin
  transaction_id := 'dlq:' || p_letter.id;
  if p_payload is null and (lockstep._sealed(p_letter.payload) or lockstep._demands_sealing(p_queue)) then
    result := 'sealed';
    return;
  end if;
  select case when s.status = 'queued' then 'moved' else s.status end, s.message_id into result, message_id
    from lockstep._stage(array[p_queue], array[p_partition], array[transaction_id], array[coalesce(p_payload, p_letter.payload)],
                         array[p_letter.trace_id], array[p_letter.producer_sub], array[v_id]) s;
  if result = 'moved' then
    delete from dead_letter d where d.queue_id = p_letter.queue_id and d.id = p_letter.id;
  end if;
end
$$;
