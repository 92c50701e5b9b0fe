-- purpose: carries out steps: key/value operations, acks, pushes and timers that commit together or not at all, each step
--   judged by itself; steps that share nothing may share one commit
-- locks in order: request (id), kv (ns, key), timer (queue, key), queue (key share), partition (SKIP LOCKED), lane (queue, partition, group);
--   class by class over all the steps, before anything is judged
-- raises: LS425 isolation_not_supported, LS403 kv_duplicate_key_in_call
-- idempotent how: a request id answers its first committed result for 24 hours; what rolled back is judged again
-- index used: request_pkey, kv_pkey, timer_pkey, lane_pkey, message_tx_hash, partition_pkey
-- p_own: true when this call is its own transaction; false inside a user's: all pushes are staged, nothing is cleared.
-- Result per step: {"success":true,"kv":…,"operations":[[pos,"push",status,id,offset]|[pos,"ack",released,dlq,noop],…],
-- "timers":[[pos,status,transactionId,id,deliverAt],…]},
-- {"success":false,"reason":…,…} or {"deferred":true}: it touches what an earlier step of the call touches, send it again.
create or replace function lockstep.transaction_joined(
  p_own boolean, p_request_id text[], p_body_hash text[],
  p_kv_step int[], p_kv_pos int[], p_kv_op text[], p_kv_ns text[], p_kv_key text[], p_kv_value text[], p_kv_expect bigint[],
  p_kv_required boolean[], p_kv_ttl bigint[], p_kv_delta numeric[], p_kv_min numeric[], p_kv_max numeric[],
  p_ack_step int[], p_ack_pos int[], p_ack_queue int[], p_ack_partition bigint[], p_ack_group text[], p_ack_lease text[],
  p_ack_tx text[], p_ack_offset bigint[], p_ack_status text[], p_ack_error text[],
  p_push_step int[], p_push_pos int[], p_push_queue text[], p_push_partition text[], p_push_tx text[], p_push_payload text[],
  p_push_trace text[], p_push_sub text[], p_push_id uuid[],
  p_timer_step int[], p_timer_pos int[], p_timer_op text[], p_timer_queue text[], p_timer_key text[], p_timer_partition text[],
  p_timer_tx text[], p_timer_payload text[], p_timer_delay_ms bigint[], p_timer_id uuid[], p_timer_sub text[])
returns table (step int, result text, replayed boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_steps int := cardinality(p_request_id);
  v_answer text[] := array_fill(null::text, array[v_steps]);  -- decided: lost, deferred or recorded
  v_replayed int[] := '{}';
  v_kv text[] := array_fill('null'::text, array[v_steps]);
  v_done text[] := array_fill(''::text, array[v_steps]);
  v_timers text[] := array_fill(''::text, array[v_steps]);
  v_keyed boolean := cardinality(array_remove(p_request_id, null)) > 0;
  v_writes lockstep._kv_writes;
  v_target record;
  v_ack record;
  v_row record;
  v_step int;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  if v_steps > 1 then
    foreach v_step in array lockstep._shares(p_request_id, p_kv_step, p_kv_op, p_kv_ns, p_kv_key, p_ack_step, p_ack_queue,
      p_ack_partition, p_ack_group, p_push_step, p_push_queue, p_push_partition, p_push_tx, p_timer_step, p_timer_queue, p_timer_key) loop
      v_answer[v_step] := '{"deferred":true}';
    end loop;
  end if;

  -- Lock, class by class.
  if v_keyed then
    for v_row in select * from lockstep._open_requests(p_request_id, p_body_hash) loop
      if v_row.state <> 'new' and v_answer[v_row.nth] is null then
        v_answer[v_row.nth] := case when v_row.state = 'conflict' then '{"success":false,"reason":"request_conflict"}' else v_row.answer end;
        v_replayed := v_replayed || v_row.nth;
      end if;
    end loop;
  end if;
  if cardinality(p_kv_op) > 0 then
    perform lockstep._kv_lock(p_kv_op, p_kv_ns, p_kv_key);
  end if;
  if cardinality(p_timer_op) > 0 then
    perform lockstep._timer_lock(p_timer_op, p_timer_queue, p_timer_key);
  end if;
  if p_own and cardinality(p_push_queue) > 0 then
    v_target := lockstep._targets(p_push_queue, p_push_partition, p_ack_queue, p_ack_partition, p_ack_group);
  else
    select '{}'::text[] as queue_names, '{}'::int[] as queue_ids,
           array_fill(null::bigint, array[cardinality(p_push_queue)]) as partition_id into v_target;
  end if;
  if not p_own and cardinality(p_ack_queue) > 0 then
    perform lockstep._lock_lanes(l.queue_id, l.partition_id, l.grp) from lockstep._leased_lanes(p_ack_lease, p_ack_partition) l;
  elsif cardinality(p_push_queue) = 0 and cardinality(p_ack_queue) > 0 then
    perform lockstep._lock_lanes(p_ack_queue, p_ack_partition, p_ack_group);
  end if;
  v_now := lockstep.clock();

  -- Judge, in the order kv, acks, pushes; nothing visible is written.
  if cardinality(p_kv_op) > 0 then
    for v_row in select * from lockstep._kv_judge(v_now, p_kv_step, p_kv_pos, p_kv_op, p_kv_ns, p_kv_key, p_kv_value, p_kv_expect,
      p_kv_required, p_kv_ttl, p_kv_delta, p_kv_min, p_kv_max) loop
      continue when v_answer[v_row.call_no] is not null;
      if not v_row.ok then
        v_answer[v_row.call_no] := '{"success":false,"reason":"kv_precondition","verdict":' || v_row.answer || '}';
      else
        v_kv[v_row.call_no] := v_row.answer;
        v_writes.step := v_writes.step || array_fill(v_row.call_no, array[cardinality(v_row.write_ns)]);
        v_writes.ns := v_writes.ns || v_row.write_ns;
        v_writes.key := v_writes.key || v_row.write_key;
        v_writes.value := v_writes.value || v_row.write_value;
        v_writes.version := v_writes.version || v_row.write_version;
        v_writes.expires_at := v_writes.expires_at || v_row.write_expires_at;
      end if;
    end loop;
  end if;
  if cardinality(p_ack_queue) > 0 then
    v_ack := lockstep._judge_step_acks(p_ack_queue, p_ack_partition, p_ack_group, p_ack_lease, p_ack_tx, p_ack_offset,
      p_ack_status, p_own, v_now);
    for v_row in
      select distinct on (i.step) i.step, i.pos, i.loss from unnest(p_ack_step, p_ack_pos, v_ack.loss) i(step, pos, loss)
       where i.loss is not null order by i.step, i.pos
    loop
      v_answer[v_row.step] := coalesce(v_answer[v_row.step], json_build_object('success', false, 'reason', 'rejected_ack',
        'failedIndex', v_row.pos, 'error', v_row.loss)::text);
    end loop;
  end if;
  if cardinality(p_push_queue) > 0 then
    for v_row in
      select * from lockstep._judge_pushes(v_answer, p_push_step, p_push_pos, p_push_queue, p_push_partition, p_push_tx, p_push_payload, v_now)
    loop
      v_answer[v_row.step] := coalesce(v_answer[v_row.step], lockstep._push_loss(v_row.pos, v_row.reason, v_row.message_id, v_row.conflict));
    end loop;
    for v_row in
      select s.*
        from (select * from lockstep._busy_of(v_answer, v_target.partition_id, p_push_step, p_push_pos, p_push_queue, p_push_partition,
                p_push_tx, p_push_payload, p_push_trace, p_push_sub, p_push_id) u where u.step is not null) b
       cross join lateral lockstep._stage_steps(b.step, b.pos, b.queue, b.partition, b.tx, b.payload, b.trace, b.sub, b.id) s
    loop
      v_answer[v_row.step] := lockstep._push_loss(v_row.pos, v_row.reason, v_row.message_id, v_row.conflict);
    end loop;
  end if;

  -- Write what won.
  if cardinality(v_writes.ns) > 0 then
    perform lockstep._kv_write(v_now, w.ns, w.key, w.value, w.version, w.expires_at)
       from (select array_agg(i.ns) as ns, array_agg(i.key) as key, array_agg(i.value) as value, array_agg(i.version) as version,
                    array_agg(i.expires_at) as expires_at
               from unnest(v_writes.step, v_writes.ns, v_writes.key, v_writes.value, v_writes.version, v_writes.expires_at)
                    i(step, ns, key, value, version, expires_at)
              where v_answer[i.step] is null
             having count(*) > 0) w;
  end if;
  if cardinality(p_ack_queue) > 0 then
    v_ack.verdict := array(select case when v_answer[i.step] is null then i.verdict else 'lost' end
                             from unnest(p_ack_step, v_ack.verdict) with ordinality i(step, verdict, ord) order by i.ord);
    for v_row in
      select i.step, i.pos, coalesce(s.released, false) as released, coalesce(s.dlq, false) as dlq, i.verdict is not null as noop
        from unnest(p_ack_step, p_ack_pos, v_ack.verdict) with ordinality i(step, pos, verdict, ord)
        left join lockstep._settle_all(p_ack_step, p_ack_queue, p_ack_partition, p_ack_group, v_ack.group_id, p_ack_lease, p_ack_tx,
          p_ack_offset, p_ack_status, p_ack_error, v_ack.at, v_ack.verdict, v_now, p_own) s on s.nth = i.ord
    loop
      v_done[v_row.step] := v_done[v_row.step] || ',' || json_build_array(v_row.pos, 'ack', v_row.released, v_row.dlq, v_row.noop);
    end loop;
  end if;
  if cardinality(p_push_queue) > 0 then
    for v_row in
      select a.* from lockstep._append_steps(v_answer, p_push_step, p_push_pos, p_push_queue, p_push_partition, p_push_tx, p_push_payload,
        p_push_trace, p_push_sub, p_push_id, v_target.partition_id, v_target.queue_names, v_target.queue_ids) a
    loop
      v_done[v_row.step] := v_done[v_row.step] || ','
        || json_build_array(v_row.pos, 'push', v_row.status, v_row.message_id, v_row.message_offset);
    end loop;
  end if;

  if cardinality(p_timer_op) > 0 then
    for v_row in select * from lockstep._timer_steps(v_answer, p_timer_step, p_timer_pos, p_timer_op, p_timer_queue, p_timer_key,
      p_timer_partition, p_timer_tx, p_timer_payload, p_timer_delay_ms, p_timer_id, p_timer_sub) loop
      v_timers[v_row.step] := v_row.answer;
    end loop;
  end if;

  if v_keyed then
    perform lockstep._close_requests(array_agg(i.id), array_agg(
              case when v_answer[i.ord] is null then lockstep._step_won(v_kv[i.ord], v_done[i.ord], v_timers[i.ord]) end))
       from unnest(p_request_id) with ordinality i(id, ord)
      where i.id is not null and i.ord <> all (v_replayed) and v_answer[i.ord] is distinct from '{"deferred":true}';
  end if;
  return query
    select i.ord::int, coalesce(i.answer, lockstep._step_won(v_kv[i.ord], v_done[i.ord], v_timers[i.ord])), i.ord = any (v_replayed)
      from unnest(v_answer) with ordinality i(answer, ord);
end
$$;
