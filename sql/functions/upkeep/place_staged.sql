-- purpose: places what is staged for the next queue, by name, after p_after; null queue: no later one has any
-- locks in order: queue (key share, only for new partitions), partition (id, SKIP LOCKED), lane (partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: delete and insert are one statement; whoever holds a partition places it instead
-- index used: staged_queue, partition_name_once, partition_pkey
-- One queue per call and so per transaction: a second one would wait for its class while lanes of the first are held.
create or replace function lockstep.place_staged(p_after text, out queue text, out placed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id int;
  v_names text[];
  v_ids bigint[];
begin
  perform lockstep._demand_read_committed();
  placed := 0;
  select s.queue_name into queue from staged s where s.queue_name > p_after order by s.queue_name limit 1;
  if queue is null then
    return;
  end if;
  v_id := (lockstep._open_queues(array[queue]))[1];
  v_names := array(
    select distinct l.partition_name
      from (select s.partition_name from staged s where s.queue_name = queue order by s.seq
             limit 1000) l); -- LIMITS.placedPerVisit
  if not lockstep._open_partitions(v_id, v_names) then
    return;
  end if;
  v_ids := array(
    select p.id from partition p where p.queue_id = v_id and p.name = any (v_names)
     order by p.id for no key update skip locked);
  -- In a later statement: a queue deleted meanwhile takes nothing more; the next pass finds the queue that has the name.
  if cardinality(v_ids) = 0 or not exists (select 1 from queue q where q.id = v_id and q.deleted_at is null) then
    return;
  end if;
  placed := lockstep._place(v_id, queue, v_ids, 1000); -- LIMITS.placedPerVisit
end
$$;
