-- purpose: _stage for one item, the usual push of a user's transaction: the same judgement in statements of one row
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: nothing
-- idempotent how: as _stage
-- index used: queue_live_name, staged_once, partition_name_once, message_tx_hash
create or replace function lockstep._stage_one(
  p_queue text, p_partition text, p_transaction_id text, p_payload text, p_trace_id text, p_producer_sub text, p_id uuid,
  out status text, out message_id uuid, out conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_window int := 3600;
  v_max_size bigint := 0;
  v_seq bigint := nextval('lockstep.staged_seq');
  v_key bytea;
  v_now timestamptz;
  v_mine boolean;
  v_first uuid;
  v_payload text;
begin
  status := 'queued';
  message_id := p_id;
  conflict := false;
  select q.id, q.dedup_window_seconds, q.max_size into v_queue_id, v_window, v_max_size
    from queue q where q.name = p_queue and q.deleted_at is null;
  if coalesce(v_max_size, 0) > 0 and lockstep._waiting(v_queue_id) + (select count(*) from staged s where s.queue_name = p_queue) >= v_max_size then
    status := 'queue_full';
    return;
  end if;
  if p_transaction_id is not null and coalesce(v_window, 3600) > 0 then
    v_key := sha256(convert_to(length(p_partition) || ':' || p_partition || p_transaction_id, 'UTF8'));
  end if;
  loop
    insert into staged (queue_name, partition_name, seq, dedup_key, id, transaction_id, payload, trace_id, producer_sub)
      values (p_queue, p_partition, v_seq, v_key, p_id, coalesce(p_transaction_id, p_id::text), p_payload, p_trace_id, p_producer_sub)
      on conflict on constraint staged_once do nothing;
    v_mine := found;
    exit when v_key is null;
    v_now := lockstep.clock();
    if v_queue_id is not null then
      select m.id, m.payload into v_first, v_payload
        from partition p
       cross join lateral (
          select k.id, k.payload from message k
           where k.queue_id = v_queue_id and k.tx_hash = lockstep.tx_hash(p.id, p_transaction_id) and k.partition_id + 0 = p.id
             and k.transaction_id = p_transaction_id and k.created_at > v_now - make_interval(secs => v_window)
           order by k."offset" limit 1) m
       where p.queue_id = v_queue_id and p.name = p_partition;
    end if;
    -- An older snapshot may still see a staged row that was placed since, beside the one just made.
    if v_first is null and (not v_mine or current_setting('transaction_isolation') <> 'read committed') then
      select s.id, s.payload into v_first, v_payload from staged s
       where s.queue_name = p_queue and s.dedup_key = v_key and s.seq <> v_seq limit 1;
    end if;
    if v_first is not null then
      status := 'duplicate';
      message_id := v_first;
      conflict := v_payload <> p_payload;
      if v_mine then
        delete from staged s where s.queue_name = p_queue and s.partition_name = p_partition and s.seq = v_seq;
      end if;
      exit;
    end if;
    -- Neither mine nor anybody's: the winner was placed and left the window between the looks; stage again.
    exit when v_mine;
  end loop;
end
$$;
