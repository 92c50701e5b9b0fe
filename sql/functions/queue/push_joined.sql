-- purpose: stores many messages, given their offsets under the partitions' locks; one answer per item, any order
-- locks in order: queue (key share, only for new partitions), partition (queue, id), lane (partition, group)
-- raises: LS425 isolation_not_supported, LS426 encryption_required
-- idempotent how: a transaction id known in its partition within the window is answered duplicate with the first id
-- index used: queue_live_name, partition_name_once, partition_pkey, message_tx_hash
create or replace function lockstep.push_joined(
  p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[],
  p_trace_id text[], p_producer_sub text[], p_id uuid[])
returns table (ord int, status text, message_id uuid, message_offset bigint, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_names text[] := array(select distinct n collate "C" from unnest(p_queue) n order by 1);
  v_ids int[];
  v_partitions bigint[];
  v_busy bigint[];
  v_open boolean;
  v_part record;
begin
  perform lockstep._demand_read_committed();
  loop
    v_ids := lockstep._open_queues(v_names);
    v_open := true;
    for i in 1 .. cardinality(v_names) loop
      v_open := v_open and lockstep._open_partitions(v_ids[i], array(
        select distinct u.p from unnest(p_queue, p_partition) u(q, p) where u.q = v_names[i]));
    end loop;
    continue when not v_open;
    v_partitions := lockstep._partition_ids(p_queue, p_partition, v_names, v_ids);
    exit when lockstep._lock_partitions(v_ids, v_partitions);
  end loop;

  if cardinality(v_names) > 1 then
    perform lockstep._lock_woken(v_ids, v_partitions, '{}', '{}', '{}');
  end if;
  -- What open transactions had staged and committed before comes first; more than one visit's worth: join the staged.
  v_busy := lockstep._place_before_push(v_names, v_ids, v_partitions);
  if cardinality(v_names) = 1 and cardinality(v_busy) = 0 then
    return query select * from lockstep._append(v_ids[1], v_partitions, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id);
    return;
  end if;
  for v_part in
    select s.* from lockstep._slices(p_queue, p_partition, v_partitions, v_busy, p_transaction_id, p_payload, p_trace_id,
                                     p_producer_sub, p_id) s
  loop
    if v_part.is_busy then
      return query
        select v_part.ords[s.ord], s.status, s.message_id, null::bigint, s.conflict
          from lockstep._stage(v_part.queues, v_part.partitions, v_part.txs, v_part.payloads, v_part.traces, v_part.subs, v_part.ids) s;
    else
      return query
        select v_part.ords[a.nth], a.status, a.message_id, a.message_offset, a.conflict
          from lockstep._append(v_ids[array_position(v_names, v_part.queue)], v_part.partition_ids, v_part.txs, v_part.payloads,
                                v_part.traces, v_part.subs, v_part.ids) a;
    end if;
  end loop;
end
$$;
