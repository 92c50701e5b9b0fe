-- purpose: sees that these partitions of a queue exist, with a lane for each group; false when the queue was deleted
-- locks in order: queue (key share, only where one is made), partition and lane rows it makes
-- raises: nothing
-- idempotent how: what exists stays as it is, two makers meet on the name
-- index used: partition_name_once
create or replace function lockstep._open_partitions(p_queue_id int, p_names text[]) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_missing text[];
  v_now timestamptz;
begin
  v_missing := array(
    select distinct n from unnest(p_names) n
     where (select p.id from partition p where p.queue_id = p_queue_id and p.name = n) is null);
  if cardinality(v_missing) = 0 then
    return true;
  end if;
  -- Against a registration of a group at the same time: it holds the queue for update, so either it sees the new
  -- partitions or the statement below sees the new group.
  perform 1 from queue q where q.id = p_queue_id and q.deleted_at is null for key share;
  if not found then
    return false;
  end if;
  v_now := lockstep.clock();
  with made as (
    insert into partition (queue_id, name, created_at)
      select p_queue_id, n, v_now from unnest(v_missing) n order by n collate "C"
      on conflict on constraint partition_name_once do nothing
      returning id
  )
  insert into lane (queue_id, group_id, partition_id, committed)
    select p_queue_id, g.id, m.id, case when g.starts_at <= v_now then 0 end
      from made m cross join consumer_group g
     where g.queue_id = p_queue_id
     order by m.id, g.id
    on conflict do nothing;
  return true;
end
$$;
