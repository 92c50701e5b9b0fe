-- purpose: opens the target partitions of a call's pushes and locks those that are free at once; a busy one is staged to
-- locks in order: queue (key share, only for new partitions), partition (queue, id; SKIP LOCKED), lane by placing
-- raises: nothing
-- idempotent how: what exists stays; a partition id is answered only for partitions that are held and hold nothing staged
-- index used: queue_live_name, partition_name_once, partition_pkey, staged_pkey
create or replace function lockstep._targets(
  p_queue text[], p_partition text[], out queue_names text[], out queue_ids int[], out partition_id bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_held bigint[] := '{}';
  v_open boolean;
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
  -- In later statements: deleted queues are left to the placer, which makes them anew after the delete.
  v_held := array(
    select p.id from unnest(v_held) h join unnest(queue_ids) q(id) on true
      join partition p on p.queue_id = q.id and p.id = h
     where exists (select 1 from queue l where l.id = q.id and l.deleted_at is null)
    except
    select unnest(lockstep._place_before_push(queue_names, queue_ids, v_held)));
  select array_agg(case when p.id = any (v_held) then p.id end order by i.ord) into partition_id
    from unnest(p_queue, p_partition) with ordinality i(queue, partition, ord)
    join unnest(queue_names, queue_ids) q(name, id) on q.name = i.queue
    left join partition p on p.queue_id = q.id and p.name = i.partition;
end
$$;
