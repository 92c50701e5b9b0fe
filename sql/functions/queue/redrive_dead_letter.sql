-- purpose: moves one dead letter back: a copy at the end of its partition (or of another queue or partition) and the removal
--   of the row, in one commit
-- locks in order: dead letter (for update), queue (key share)
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the copy's transaction id is dlq:<id>; inside the window of an earlier copy nothing is written
-- index used: dead_letter_pkey, queue_live_name
-- result: moved · sealed (row kept: come again with p_copy_payload, sealed for p_copy_id in its place) · duplicate (row kept) · gone (no such row) · queue_not_found, queue_full (row kept)
-- Example: select * from lockstep.redrive_dead_letter('01998f0e-…');
create or replace function lockstep.redrive_dead_letter(
  p_id uuid, p_queue text default null, p_partition text default null, p_copy_id uuid default null, p_copy_payload text default null,
  out result text, out queue text, out partition text, out group_name text, out original_transaction_id text,
  out message_id uuid, out transaction_id text, out letter_queue text, out letter_partition text, out letter_message_id uuid,
  out letter_payload text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_letter dead_letter;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._demand_name('queue', coalesce(p_queue, 'its own'));
  perform lockstep._demand_name('partition', coalesce(p_partition, 'its own'));
  -- The id alone does not say where the row is: each queue is asked by its key.
  select q.id, q.name into v_queue_id, queue
    from queue q
   cross join lateral (select 1 from dead_letter d where d.queue_id = q.id and d.id = p_id limit 1) d
   where q.deleted_at is null;
  select * into v_letter from dead_letter d where d.queue_id = v_queue_id and d.id = p_id for update;
  if not found then
    result := 'gone';
    return;
  end if;
  letter_queue := queue;
  queue := coalesce(p_queue, queue);
  partition := coalesce(p_partition, v_letter.partition_name);
  group_name := v_letter.group_name;
  original_transaction_id := v_letter.transaction_id;
  -- Held to the commit, so that a deletion of the queue comes after the copy or before it, never between.
  perform 1 from queue q where q.name = redrive_dead_letter.queue and q.deleted_at is null for key share;
  if not found then
    result := case when p_queue is null then 'gone' else 'queue_not_found' end;
    return;
  end if;
  select r.result, r.message_id, r.transaction_id into result, message_id, transaction_id
    from lockstep._redrive(v_letter, queue, partition, p_copy_id, p_copy_payload) r;
  if result = 'sealed' then
    letter_partition := v_letter.partition_name;
    letter_message_id := v_letter.message_id;
    letter_payload := v_letter.payload;
  elsif result = 'moved' then
    perform lockstep._audit('redrive_dead_letter', json_build_object('id', p_id, 'queue', queue, 'partition', partition), json_build_object('messageId', message_id));
  end if;
end
$$;
