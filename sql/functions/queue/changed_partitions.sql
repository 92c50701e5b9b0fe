-- purpose: partitions of queues written at or after an instant, in the order in which they were made, a page of each queue; and an
--   instant before which every write is in this answer, to ask again from
-- locks in order: none
-- raises: LS425 isolation_not_supported
-- idempotent how: reads only
-- index used: queue_live_name, partition_pkey
-- The first row has entry 0: last_write_at is that instant, is_last false when it is only a floor. Of each entry first a row without a
-- partition: partition_id is where the next page begins, is_last says that there is none, queue_id is null without such a queue.
-- An instant is given under its partition's lock and becomes visible with the commit, so one may be on its way: whoever holds
-- locks on partitions is asked for before the partitions are read, in a later statement. What was given before the eldest of them
-- began is then visible.
create or replace function lockstep.changed_partitions(
  p_queue text[], p_since timestamptz[], p_after bigint[], p_limit int[], p_scan int default 10000)
returns table (entry int, queue_id int, partition_id bigint, name text, last_offset bigint, log_start bigint, last_write_at text,
               is_last boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_hidden boolean;
  v_eldest timestamptz;
  v_seen int;
  v_partition partition;
begin
  perform lockstep._demand_read_committed();
  -- When a session of another role began is not shown to every owner of this function; a prepared transaction has none.
  select coalesce(bool_or(w.pid is null or (a.pid is not null and a.xact_start is null)), false), min(a.xact_start)
    into v_hidden, v_eldest
    from (select distinct k.pid from pg_locks k
           where k.locktype = 'relation' and k.relation = 'lockstep.partition'::regclass
             and k.database = (select d.oid from pg_database d where d.datname = current_database())
             and k.mode in ('RowShareLock', 'RowExclusiveLock') and k.granted and k.pid is distinct from pg_backend_pid()) w
    left join pg_stat_activity a on a.pid = w.pid;
  entry := 0;
  is_last := not v_hidden;
  last_write_at := lockstep.instant_text(
    least(v_now, v_eldest, case when v_hidden then v_now - interval '60 seconds' end));
  return next;
  for i in 1 .. cardinality(p_queue) loop
    entry := i;
    select q.id into queue_id from queue q where q.name = p_queue[i] and q.deleted_at is null;
    v_seen := 0;
    partition_id := coalesce(p_after[i], 0);
    is_last := null;
    for v_partition in
      select * from partition p
       where p.queue_id = changed_partitions.queue_id and p.id > coalesce(p_after[i], 0) order by p.id limit p_scan
    loop
      partition_id := v_partition.id;
      p_scan := p_scan - 1;
      continue when v_partition.last_created_at < p_since[i] or (v_partition.last_created_at is null and p_since[i] is not null);
      name := v_partition.name;
      last_offset := v_partition.next_offset - 1;
      log_start := v_partition.log_start;
      last_write_at := lockstep.instant_text(coalesce(v_partition.last_created_at, v_partition.created_at));
      v_seen := v_seen + 1;
      return next;
      exit when v_seen >= p_limit[i];
    end loop;
    name := null;
    last_offset := null;
    log_start := null;
    last_write_at := null;
    is_last := v_seen < p_limit[i] and p_scan > 0;
    return next;
  end loop;
end
$$;
