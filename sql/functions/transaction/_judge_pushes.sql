-- purpose: judges the pushes of steps before anything is written: an id that its partition remembers, or a full queue, loses
-- locks in order: none beyond the partitions that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_name_once, message_tx_hash
-- One row per losing step, its first losing item. Repeats inside one step are no losers: they are stored once. Room is given
-- in the order of the steps, and none is taken by a step that has lost.
create or replace function lockstep._judge_pushes(p_answer text[],
  p_step int[], p_pos int[], p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[], p_now timestamptz)
returns table (step int, pos int, reason text, message_id uuid, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_lost int[] := '{}';
  v_queue_ids int[];
  v_room bigint[];
  v_used bigint[];
  v_item record;
begin
  for step, pos, reason, message_id, conflict in
    select distinct on (i.step) i.step, i.pos, 'duplicate', m.id, coalesce(lockstep._differs(m.payload, i.payload), false)
      from unnest(p_step, p_pos, p_queue, p_partition, p_transaction_id, p_payload) i(step, pos, queue, partition, tx, payload)
     cross join lateral (
        select q.id, q.dedup_window_seconds from queue q where q.name = i.queue and q.deleted_at is null limit 1) q
     cross join lateral (
        select p.id from partition p where p.queue_id = q.id and p.name = i.partition limit 1) p
     cross join lateral (
        select k.id, k.payload from message k
         where k.queue_id = q.id and k.tx_hash = lockstep.tx_hash(p.id, i.tx) and k.partition_id + 0 = p.id and k.transaction_id = i.tx
           and k.created_at > p_now - make_interval(secs => q.dedup_window_seconds)
         order by k."offset" limit 1) m
     where i.tx is not null and q.dedup_window_seconds > 0
     order by i.step, i.pos
  loop
    v_lost := v_lost || step;
    return next;
  end loop;

  select array_agg(q.id), array_agg(q.max_size - lockstep._waiting(q.id)) into v_queue_ids, v_room
    from queue q
   where q.name = any (p_queue) and q.deleted_at is null and q.max_size > 0;
  if v_queue_ids is null then
    return;
  end if;
  step := null;
  for v_item in
    select i.step, i.pos, array_position(v_queue_ids, q.id) as at
      from unnest(p_step, p_pos, p_queue) i(step, pos, queue)
      join queue q on q.name = i.queue and q.deleted_at is null and q.max_size > 0
     where p_answer[i.step] is null and i.step <> all (v_lost)
     order by i.step, i.pos
  loop
    if v_item.step is distinct from step then
      -- The step before has won its room.
      for v_at in 1 .. coalesce(cardinality(v_used), 0) loop
        v_room[v_at] := v_room[v_at] - v_used[v_at];
      end loop;
      step := v_item.step;
      v_used := array_fill(0::bigint, array[cardinality(v_queue_ids)]);
    end if;
    continue when step = any (v_lost);
    v_used[v_item.at] := v_used[v_item.at] + 1;
    if v_used[v_item.at] > v_room[v_item.at] then
      v_lost := v_lost || step;
      v_used := array_fill(0::bigint, array[cardinality(v_queue_ids)]);
      pos := v_item.pos; reason := 'queue_full'; message_id := null; conflict := false;
      return next;
    end if;
  end loop;
end
$$;
