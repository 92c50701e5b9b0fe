-- purpose: stores many messages, given their offsets under the partitions' locks; one answer per item, in item order
-- locks in order: queue (key share, only for new partitions), partition (queue, id), lane (partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: a transaction id known in its partition within the window is answered duplicate with the first id
-- index used: queue_live_name, partition_name_once, partition_pkey, message_tx_hash
create or replace function lockstep.push_joined(
  p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[],
  p_trace_id text[], p_producer_sub text[], p_id uuid[])
returns table (ord int, status text, message_id uuid, message_offset bigint, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_names text[] := array(select distinct n collate "C" from unnest(p_queue) n order by 1);
  v_queue_ids int[];
  v_partition_ids bigint[];
  v_busy bigint[];
  v_alive boolean;
begin
  perform lockstep._demand_read_committed();
  loop
    v_queue_ids := lockstep._open_queues(v_names);
    v_alive := true;
    for i in 1 .. cardinality(v_names) loop
      v_alive := v_alive and lockstep._open_partitions(v_queue_ids[i], array(
        select distinct u.p from unnest(p_queue, p_partition) u(q, p) where u.q = v_names[i]));
    end loop;
    continue when not v_alive;

    select array_agg(p.id order by i.ord) into v_partition_ids
      from unnest(p_queue, p_partition) with ordinality i(queue, partition, ord)
      join unnest(v_names, v_queue_ids) q(name, id) on q.name = i.queue
      left join partition p on p.queue_id = q.id and p.name = i.partition;
    v_alive := lockstep._lock_partitions(v_queue_ids, v_partition_ids);
    exit when v_alive;
  end loop;

  -- What open transactions had staged and committed before comes first; more than one visit's worth: join the staged.
  v_busy := lockstep._place_before_push(v_names, v_queue_ids, v_partition_ids);
  for i in 1 .. cardinality(v_names) loop
    return query select r.* from lockstep._append(v_queue_ids[i], v_names[i], v_busy,
      p_queue, v_partition_ids, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id) r;
  end loop;
  if cardinality(v_busy) > 0 then
    return query
      select b.ord, s.status, s.message_id, null::bigint, s.conflict
        from (select array_agg(i.ord order by i.ord) as ords, array_agg(i.queue order by i.ord) as queues,
                     array_agg(i.partition order by i.ord) as partitions, array_agg(i.tx order by i.ord) as txs,
                     array_agg(i.payload order by i.ord) as payloads, array_agg(i.trace order by i.ord) as traces,
                     array_agg(i.sub order by i.ord) as subs, array_agg(i.id order by i.ord) as ids
                from unnest(p_queue, p_partition, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id,
                            v_partition_ids)
                     with ordinality i(queue, partition, tx, payload, trace, sub, id, partition_id, ord)
               where i.partition_id = any (v_busy)) u
       cross join lateral lockstep._stage(u.queues, u.partitions, u.txs, u.payloads, u.traces, u.subs, u.ids) s
       cross join lateral (select u.ords[s.ord]::int as ord) b;
  end if;
end
$$;
