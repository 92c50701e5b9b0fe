-- purpose: one step of a stream: what it remembers of a source partition, what it pushes and how far it has read, in one commit
-- locks in order: stream query (key share), queue (key share), then as transaction_joined, stream state (query, partition, key)
-- raises: LS425 isolation_not_supported
-- idempotent how: a repeat finds its lease gone or its offset passed and is refused whole
-- index used: stream_query_pkey, lane_lease, stream_state_pkey
-- p_group null: streams.<name of the query>. p_status null: no ack. completed and p_release: the whole batch; completed alone: p_count messages from the head, the lease
--   stays for the rest; retry: the lease is given up where it stands. A null value deletes its key. No key comes twice.
--   The lease of stream_claim has an empty batch: its ack moves nothing, and fails when the lease is gone.
-- Answers as transaction_joined for one step, its pushes at p_push_pos and the ack behind them; further reasons: unknown_query,
--   unknown_partition.
create or replace function lockstep.stream_cycle(
  p_query_id int, p_queue_id int, p_partition_id bigint,
  p_group text, p_lease text, p_status text, p_count int, p_release boolean,
  p_key text[], p_value text[], p_window_end double precision[],
  p_push_queue text[], p_push_partition text[], p_push_tx text[], p_push_payload text[], p_push_trace text[], p_push_sub text[],
  p_push_id uuid[], out result text, out queue_name text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_pushes constant int := cardinality(p_push_queue);
  v_acks constant int := case when p_status is null then 0 else 1 end;
  v_step int[] := array_fill(1, array[v_pushes]);
  v_pos int[] := array(select generate_series(0, v_pushes - 1));
  v_lane record;
  v_at bigint;
  v_empty boolean := false;
  v_status text := p_status;
  v_group text;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  -- Held to the commit: a reset's or a deletion's upkeep takes these rows last, and so misses no state.
  select coalesce(p_group, 'streams.' || q.name) into v_group
    from stream_query q where q.id = p_query_id and q.wiped_at is null for key share;
  if not found then
    result := '{"success":false,"reason":"unknown_query"}';
    return;
  end if;
  select q.name into queue_name from queue q where q.id = p_queue_id and q.deleted_at is null for key share;
  if not found or not exists (select 1 from partition p where p.queue_id = p_queue_id and p.id = p_partition_id) then
    result := '{"success":false,"reason":"unknown_partition"}';
    return;
  end if;

  if v_acks = 1 then
    -- Without a lock: only who holds the lease moves these, and the ack is judged again under the lane's lock.
    select l.committed, l.batch_end into v_lane
      from lane l
      join consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
     where l.lease_id = p_lease and l.queue_id = p_queue_id and l.partition_id = p_partition_id and g.name = v_group;
    if not found then
      result := '{"success":false,"reason":"rejected_ack","failedIndex":' || v_pushes || ',"error":"invalid or expired lease"}';
      return;
    end if;
    v_empty := v_lane.batch_end = v_lane.committed;
    if v_empty then
      v_status := 'completed';
    end if;
    v_at := case when v_status <> 'completed' then v_lane.committed
                 when p_release then v_lane.batch_end - 1
                 else least(v_lane.committed + p_count, v_lane.batch_end) - 1 end;
  end if;
  select t.result into result
    from lockstep.transaction_joined(true, array[null::text], array[null::text],
      '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
      array_fill(1, array[v_acks]), array_fill(v_pushes, array[v_acks]), array_fill(p_queue_id, array[v_acks]),
      array_fill(p_partition_id, array[v_acks]), array_fill(v_group, array[v_acks]), array_fill(p_lease, array[v_acks]),
      array_fill(null::text, array[v_acks]), array_fill(v_at, array[v_acks]), array_fill(v_status, array[v_acks]),
      array_fill(null::text, array[v_acks]),
      v_step, v_pos, p_push_queue, p_push_partition, p_push_tx, p_push_payload, p_push_trace, p_push_sub, p_push_id,
      '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') t;
  if result::json ->> 'success' <> 'true' then
    return;
  end if;
  if v_empty and (p_release or p_status <> 'completed') then
    -- The ack of an empty batch moved nothing, under the lane's lock; the lease that it was made for ends here.
    v_now := lockstep.clock();
    update lane l
       set lease_id = null, lease_expires_at = null, batch_end = null, available_at = v_now
      from consumer_group g
     where g.queue_id = p_queue_id and g.name = v_group and l.queue_id = g.queue_id and l.group_id = g.id
       and l.partition_id = p_partition_id and l.lease_id = p_lease;
  end if;
  if cardinality(p_key) = 0 then
    return;
  end if;

  perform 1 from stream_state s
    where s.query_id = p_query_id and s.queue_id = p_queue_id and s.partition_id = p_partition_id and s.key = any (p_key)
    order by s.key for no key update;
  v_now := lockstep.clock();
  delete from stream_state s
   using unnest(p_key, p_value) i(key, value)
   where s.query_id = p_query_id and s.queue_id = p_queue_id and s.partition_id = p_partition_id and s.key = i.key and i.value is null;
  insert into stream_state (query_id, queue_id, partition_id, key, value, window_end, updated_at)
    select p_query_id, p_queue_id, p_partition_id, i.key, i.value, i.window_end, v_now
      from unnest(p_key, p_value, p_window_end) i(key, value, window_end)
     where i.value is not null order by i.key collate "C"
    on conflict (query_id, queue_id, partition_id, key)
      do update set value = excluded.value, window_end = excluded.window_end, updated_at = excluded.updated_at;
end
$$;
