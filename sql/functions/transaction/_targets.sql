-- purpose: opens the target partitions of a call's pushes and locks those that are free at once; a busy one is staged to
-- locks in order: queue (key share, only for new partitions), partition (queue, id; SKIP LOCKED), lane (queue, partition, group):
--   those of the acks and those that will be woken
-- raises: nothing
-- idempotent how: what exists stays; a partition id is answered only for partitions that are held and hold nothing staged
-- index used: queue_live_name, partition_name_once, partition_pkey, staged_pkey
create or replace function lockstep._targets(
  p_queue text[], p_partition text[], p_ack_queue int[], p_ack_partition bigint[], p_ack_group text[], out queue_names text[], out queue_ids int[], out partition_id bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_held bigint[] := '{}';
  v_open boolean;
  v_busy bigint[];
  v_live int[];
begin
  queue_names := array(select distinct n collate "C" from unnest(p_queue) n order by 1);
  loop
    queue_ids := lockstep._open_queues(queue_names);
    v_open := true;
    for i in 1 .. cardinality(queue_names) loop
      v_open := v_open and lockstep._open_partitions(queue_ids[i], array(
        select distinct u.p from unnest(p_queue, p_partition) u(q, p) where u.q = queue_names[i]));
    end loop;
    exit when v_open;
  end loop;
  for i in 1 .. cardinality(queue_names) loop
    v_held := v_held || array(
      select p.id from partition p
       where p.queue_id = queue_ids[i] and p.name in (
         select u.p from unnest(p_queue, p_partition) u(q, p) where u.q = queue_names[i])
       order by p.id for no key update skip locked);
  end loop;
  perform lockstep._lock_woken(queue_ids, v_held, p_ack_queue, p_ack_partition, p_ack_group);
  -- In later statements: deleted queues are left to the placer, which makes them anew after the delete.
  v_busy := lockstep._place_before_push(queue_names, queue_ids, v_held);
  v_live := array(select u from unnest(queue_ids) u
                   where (select q.id from queue q where q.id = u and q.deleted_at is null) is not null);
  select array_agg(case when t.id = any (v_held) and t.id <> all (v_busy)
                         and queue_ids[array_position(queue_names, t.queue)] = any (v_live) then t.id end order by t.ord)
    into partition_id
    from unnest(lockstep._partition_ids(p_queue, p_partition, queue_names, queue_ids), p_queue) with ordinality t(id, queue, ord);
end
$$;
