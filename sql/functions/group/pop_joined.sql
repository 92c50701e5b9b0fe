-- purpose: leases the next messages of due lanes to one or several waiting pops of the same queue and group
-- locks in order: queue (for update, only to register the group; key share for new partitions), group (SKIP LOCKED),
--   partition (id), lane (SKIP LOCKED), partition (SKIP LOCKED, to clear drained lanes)
-- raises: LS425 isolation_not_supported, LS427 encryption_key_missing; 55P03 when p_wait_staged and the caller's lock_timeout is over
-- idempotent how: each call leases under new ids; an unanswered one is handed back or lapses
-- index used: lane_due, lane_pkey, staged_queue, message_pkey
-- The first row has request 0: partition_name = 'no' | 'backfill' | 'staged' | 'held' | 'busy' (call again?), transaction_id = the
-- floor for the next call, message_offset = milliseconds until it is worth it, partition_id = the queue's id, delivery = 1 when the
-- group conflates. p_held_ms: how long these pops have been held by minPopWaitTime already; null: they are not to be held.
create or replace function lockstep.pop_joined(
  p_queue text, p_partition text, p_group text, p_lease_id text[], p_batch int, p_partitions int, p_lease_seconds int,
  p_auto_ack boolean, p_mode text, p_from timestamptz, p_floor text, p_wait_staged boolean,
  p_conflation boolean default false, p_held_ms int default null,
  p_keys text[] default '{}')
returns table (request int, partition_id bigint, partition_name text, delivery int, message_offset bigint, id uuid,
               transaction_id text, trace_id text, payload text, producer_sub text, created_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_ids int[];
  v_queue queue;
  v_group consumer_group;
  v_partition_id bigint;
  v_floor timestamptz := coalesce(nullif(split_part(coalesce(p_floor, ''), '|', 1), '')::timestamptz, '-infinity');
  v_staged record;
  v_backfill boolean := false;
  v_now timestamptz;
  v_claims lockstep._claims;
  v_request int;
  v_delivery int;
  v_first bigint;
  v_past bigint;
  v_name text;
  v_pops int := cardinality(p_lease_id);
  v_held boolean;
  v_busy boolean := false;
  v_due_ms bigint;
begin
  perform lockstep._demand_read_committed();
  loop
    v_queue_ids := lockstep._open_queues(array[p_queue]);
    select * into v_queue from queue q where q.id = v_queue_ids[1] and q.deleted_at is null;
    continue when not found;
    v_group := lockstep._open_group(v_queue.id, p_group, p_mode, p_from, p_conflation);
    exit when v_group.id is not null;
  end loop;

  if v_group.backfill_until is not null then
    v_backfill := lockstep._backfill(v_queue.id, v_group.id);
  end if;
  -- A pass holds partitions, so nothing is placed beside it: the next call does that, in its own order.
  select false as remains, null::bigint as lowest into v_staged;
  if not v_backfill then
    select * into v_staged from lockstep._place_for_pop(v_queue.id, p_queue, p_partition,
      coalesce(nullif(split_part(coalesce(p_floor, ''), '|', 2), '')::bigint, 0), p_wait_staged);
  end if;
  if p_partition is not null then
    select p.id into v_partition_id from partition p where p.queue_id = v_queue.id and p.name = p_partition;
    v_partition_id := coalesce(v_partition_id, -1);
    if v_group.backfill_until is not null and v_partition_id > 0 then
      v_now := lockstep.clock();
      insert into lane (queue_id, group_id, partition_id, available_at)
        values (v_queue.id, v_group.id, v_partition_id, v_now) on conflict do nothing;
    end if;
  end if;

  v_now := lockstep.clock();
  if v_queue.min_pop_wait_ms > p_held_ms and p_partition is null then
    v_pops := coalesce(lockstep._full_pops(v_queue, v_group, v_floor, v_now, v_pops, p_batch, p_partitions), v_pops);
  end if;
  v_claims := lockstep._claim(v_queue, v_group, v_partition_id, v_floor, v_now, p_lease_id[1:v_pops], p_batch, p_partitions,
    make_interval(secs => coalesce(p_lease_seconds, v_queue.lease_seconds)), p_auto_ack);
  v_held := v_pops < cardinality(p_lease_id);
  -- Lanes still due were passed by because another session holds them, one that claims for pops of its own: most of them it
  -- lets go again.
  if not v_held and coalesce(v_claims.request[cardinality(v_claims.request)], 0) < v_pops then
    if p_partition is null then
      v_busy := exists (select from lane l
        where l.queue_id = v_queue.id and l.group_id = v_group.id and l.available_at >= v_floor and l.available_at <= v_now);
    else
      v_busy := exists (select from lane l
        where l.queue_id = v_queue.id and l.group_id = v_group.id and l.partition_id = v_partition_id and l.available_at <= v_now);
    end if;
  end if;
  if v_held then
    v_due_ms := v_queue.min_pop_wait_ms - p_held_ms;
  elsif cardinality(v_claims.request) = 0 then
    select greatest(ceil(extract(epoch from l.available_at - v_now) * 1000), 1)::bigint into v_due_ms from lane l
     where l.queue_id = v_queue.id and l.group_id = v_group.id and l.available_at > v_now
     order by l.available_at limit 1;
  end if;

  return query
    select 0, v_queue.id::bigint,
           case when v_held then 'held' when cardinality(v_claims.request) = 0 and v_staged.remains then 'staged'
                when cardinality(v_claims.request) = 0 and v_backfill then 'backfill' when v_busy then 'busy' else 'no' end,
           v_group.conflation::int, v_due_ms, null::uuid,
           -- What is held, or passed by, stays where the next look begins.
           case when v_held or v_busy then split_part(coalesce(p_floor, ''), '|', 1)
                else lockstep.instant_text(least(v_claims.oldest, v_now) - interval '1 second') end
             || '|' || coalesce(v_staged.lowest, 0),
           null, null, null, null;
  -- One claim after the other, so that nothing is sorted: that copies all payloads once more.
  for i in 1 .. coalesce(cardinality(v_claims.request), 0) loop
    v_request := v_claims.request[i];
    v_partition_id := v_claims.partition_id[i];
    v_delivery := v_claims.delivery[i];
    v_first := v_claims.first[i];
    v_past := v_claims.past[i];
    select p.name into v_name from partition p where p.queue_id = v_queue.id and p.id = v_partition_id;
    return query
      select v_request, v_partition_id, v_name, v_delivery, m."offset", m.id, m.transaction_id, m.trace_id,
             case when lockstep._sealed(m.payload) then lockstep._demand_keys(p_queue, m.payload, p_keys) else m.payload end,
             m.producer_sub, lockstep.instant_text(m.created_at)
        from message m
       where m.queue_id = v_queue.id and m.partition_id = v_partition_id and m."offset" >= v_first and m."offset" < v_past
       order by m."offset" limit v_past - v_first;
  end loop;
end
$$;
