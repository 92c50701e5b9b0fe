-- purpose: stages pushes: rows that become messages when the caller's transaction commits and the next holder of the
--   partition places them; touches no shared row, so it delays nobody and nobody delays it
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: LS426 encryption_required
-- idempotent how: one staged row per id, then a look at the log in a later statement; a known id answers duplicate
-- index used: staged_once, message_tx_hash, encryption_key_pkey
create or replace function lockstep._stage(
  p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[],
  p_trace_id text[], p_producer_sub text[], p_id uuid[])
returns table (ord int, status text, message_id uuid, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_seq bigint[] := array(select nextval('lockstep.staged_seq') from generate_series(1, cardinality(p_queue)));
  v_key bytea[];
  v_window int[];
  v_queue_id int[];
  v_full boolean[];
  v_open int[] := array(select generate_series(1, cardinality(p_queue)));
  v_status text[] := array_fill('queued'::text, array[cardinality(p_queue)]);
  v_first uuid[] := p_id;
  v_now timestamptz;
  v_row record;
begin
  for v_row in
    select i.queue, array_agg(i.payload) as payloads
      from unnest(p_queue, p_payload) i(queue, payload)
      join queue q on q.name = i.queue and q.deleted_at is null and q.encryption_enabled
     group by 1
  loop
    perform lockstep._demand_sealed(v_row.queue, v_row.payloads);
  end loop;
  select array_agg(w.seconds order by i.ord), array_agg(q.id order by i.ord),
         array_agg(case when i.tx is not null and w.seconds > 0 then sha256(convert_to(length(i.partition) || ':' || i.partition || i.tx, 'UTF8')) end order by i.ord),
         array_agg(case when q.max_size > 0 then lockstep._waiting(q.id)
           + (select count(*) from staged s where s.queue_name = q.name) + i.nth > q.max_size end order by i.ord)
    into v_window, v_queue_id, v_key, v_full
    from (select *, row_number() over (partition by u.queue order by u.ord) as nth
            from unnest(p_queue, p_partition, p_transaction_id) with ordinality u(queue, partition, tx, ord)) i
    left join queue q on q.name = i.queue and q.deleted_at is null
   cross join lateral (select coalesce(q.dedup_window_seconds, 3600) as seconds) w;

  while cardinality(v_open) > 0 loop
    -- Sorted, so that two transactions staging the same ids meet in one order; seq was drawn in the caller's order.
    insert into staged (queue_name, partition_name, seq, dedup_key, id, transaction_id, payload, trace_id, producer_sub)
      select i.queue, i.partition, i.seq, i.key, i.id, coalesce(i.tx, i.id::text), i.payload, i.trace, i.sub
        from unnest(p_queue, p_partition, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id, v_seq, v_key, v_full)
             with ordinality i(queue, partition, tx, payload, trace, sub, id, seq, key, is_full, ord)
       where i.ord = any (v_open) and i.is_full is not true
       order by i.queue collate "C", i.partition collate "C", i.key, i.seq
      on conflict (queue_name, dedup_key) where dedup_key is not null do nothing;
    v_now := lockstep.clock();
    for v_row in
      select i.ord::int as item, i.queue, i.partition, i.seq, own.seq is not null as staged, i.is_full,
             coalesce(m.id, other.id) as first_id, lockstep._differs(coalesce(m.payload, other.payload), i.payload) as differs,
             own.seq is not null as unwanted
        from unnest(p_queue, p_partition, p_transaction_id, p_payload, v_seq, v_key, v_full, v_queue_id, v_window)
             with ordinality i(queue, partition, tx, payload, seq, key, is_full, queue_id, seconds, ord)
        left join lateral (
          select s.seq from staged s
           where s.queue_name = i.queue and s.partition_name = i.partition and s.seq = i.seq limit 1) own on true
        left join lateral (
          select s.id, s.payload from staged s
           where s.queue_name = i.queue and s.dedup_key = i.key and s.seq <> i.seq limit 1) other on true
        left join lateral (
          select p.queue_id, p.id from partition p
           where p.queue_id = i.queue_id and p.name = i.partition and i.key is not null limit 1) p on true
        left join lateral (
          select k.id, k.payload from message k
           where k.queue_id = p.queue_id and k.tx_hash = lockstep.tx_hash(p.id, i.tx) and k.partition_id + 0 = p.id
             and k.transaction_id = i.tx and k.created_at > v_now - make_interval(secs => i.seconds)
           order by k."offset" limit 1) m on true
       where i.ord = any (v_open)
    loop
      if v_row.is_full then
        v_status[v_row.item] := 'queue_full';
      elsif v_row.first_id is not null then
        v_status[v_row.item] := case when v_row.differs then 'conflict' else 'duplicate' end;
        v_first[v_row.item] := v_row.first_id;
        if v_row.unwanted then
          delete from staged s
           where s.queue_name = v_row.queue and s.partition_name = v_row.partition and s.seq = v_row.seq;
        end if;
      elsif not v_row.staged then
        continue;  -- the winner was placed and left the window between the two looks: stage again
      end if;
      v_open := array_remove(v_open, v_row.item);
    end loop;
  end loop;

  return query
    select i.o, case when v_status[i.o] = 'conflict' then 'duplicate' else v_status[i.o] end, v_first[i.o],
           v_status[i.o] = 'conflict'
      from generate_series(1, cardinality(p_queue)) i(o);
end
$$;
