-- purpose: places what is staged for one queue, one visit's worth; answers how many rows, fewer than 1000 when no more can be had
-- locks in order: queue (key share, only for new partitions), partition (id, SKIP LOCKED), lane (partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: delete and insert are one statement; whoever holds a partition places it instead
-- index used: staged_queue, partition_name_once, partition_pkey
create or replace function lockstep.place_queue(p_queue text) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id int;
  v_names text[];
  v_ids bigint[];
begin
  perform lockstep._demand_read_committed();
  v_names := array(
    select distinct l.partition_name
      from (select s.partition_name from staged s where s.queue_name = p_queue order by s.seq
             limit 1000) l); -- LIMITS.placedPerVisit
  if cardinality(v_names) = 0 then
    return 0;
  end if;
  v_id := (lockstep._open_queues(array[p_queue]))[1];
  if not lockstep._open_partitions(v_id, v_names) then
    return 0;
  end if;
  v_ids := array(
    select p.id from partition p where p.queue_id = v_id and p.name = any (v_names)
     order by p.id for no key update skip locked);
  -- In a later statement: a queue deleted meanwhile takes nothing more; the next pass finds the queue that has the name.
  if cardinality(v_ids) = 0 or not exists (select 1 from queue q where q.id = v_id and q.deleted_at is null) then
    return 0;
  end if;
  return lockstep._place(v_id, p_queue, v_ids, 1000); -- LIMITS.placedPerVisit
end
$$;
