-- purpose: _stage for one item, the usual push of a user's transaction: the same checks and judgement in statements of one row
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: LS400, LS401, LS413 for a wrong name or payload, LS426 encryption_required; 22P02 for text that is no JSON; 25006 in a read-only transaction
-- idempotent how: as _stage
-- index used: queue_live_name, staged_once, partition_name_once, message_tx_hash
-- Checks and answers are plain assignments: each further statement costs a user's transaction 10 to 20 µs. An item without a
-- transaction id has nothing to look for.
create or replace function lockstep._stage_one(
  p_queue text, p_partition text, p_transaction_id text, p_payload text, p_trace_id text, p_producer_sub text, p_id uuid,
  out status text, out message_id uuid, out conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_window int;
  v_max_size bigint;
  v_seq bigint;
  v_json json;
  v_key bytea;
  v_now timestamptz;
  v_mine boolean;
  v_first uuid;
  v_payload text;
  v_encrypted boolean;
begin
  if (octet_length(p_queue) between 1 and 512 and octet_length(p_partition) between 1 and 512
      and octet_length(p_payload) <= 64 * 1024 * 1024 and left(p_payload, 3) <> '$1:' and current_setting('array_nulls') = 'on') is not true then
    perform lockstep._demand_items(array[p_queue], array[p_partition], array[p_payload]);
  end if;
  v_json := case when left(p_payload, 3) <> '$1:' then p_payload end;  -- only checked, nothing is made of it
  status := 'queued';
  message_id := p_id;
  conflict := false;
  select q.id, q.dedup_window_seconds, q.max_size, q.encryption_enabled into v_queue_id, v_window, v_max_size, v_encrypted
    from queue q where q.name = p_queue and q.deleted_at is null;
  if v_encrypted then
    perform lockstep._demand_sealed(p_queue, array[p_payload]);
  end if;
  if v_max_size > 0 then
    if lockstep._waiting(v_queue_id) + (select count(*) from staged s where s.queue_name = p_queue) >= v_max_size then
      status := 'queue_full';
      return;
    end if;
  end if;
  v_seq := nextval('lockstep.staged_seq');
  if p_transaction_id is null or v_window <= 0 then
    insert into staged (queue_name, partition_name, seq, id, transaction_id, payload, trace_id, producer_sub)
      values (p_queue, p_partition, v_seq, p_id, coalesce(p_transaction_id, p_id::text), p_payload, p_trace_id, p_producer_sub);
    return;
  end if;
  v_key := sha256(convert_to(length(p_partition) || ':' || p_partition || p_transaction_id, 'UTF8'));
  loop
    insert into staged (queue_name, partition_name, seq, dedup_key, id, transaction_id, payload, trace_id, producer_sub)
      values (p_queue, p_partition, v_seq, v_key, p_id, p_transaction_id, p_payload, p_trace_id, p_producer_sub)
      on conflict (queue_name, dedup_key) where dedup_key is not null do nothing;
    v_mine := found;
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
      conflict := lockstep._differs(v_payload, p_payload);
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
