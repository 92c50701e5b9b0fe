-- purpose: the next queue whose partitions are to be walked for retention, now taken by the caller; null: none is due
-- locks in order: queue (no key update, SKIP LOCKED)
-- raises: nothing
-- idempotent how: a queue is due again after a twentieth of its shortest retention, 5 seconds at least and 5 minutes at most
-- index used: queue_pkey
-- So the processes of a database share the walks, and a walk that is cut short is made again.
create or replace function lockstep.begin_retention() returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_id int;
  v_now timestamptz := lockstep.clock();
begin
  select q.id into v_id from queue q
   where q.deleted_at is null
     and (q.max_wait_seconds > 0 or (q.retention_enabled and (q.retention_seconds > 0 or q.completed_retention_seconds > 0)))
     and (q.retained_at is null or q.retained_at <= v_now - make_interval(secs => least(300, greatest(5, least(
           nullif(q.max_wait_seconds, 0),
           case when q.retention_enabled then nullif(q.retention_seconds, 0) end,
           case when q.retention_enabled then nullif(q.completed_retention_seconds, 0) end) / 20))))
   order by q.id limit 1
     for no key update skip locked;
  if v_id is not null then
    update queue q set retained_at = v_now where q.id = v_id;
  end if;
  return v_id;
end
$$;
