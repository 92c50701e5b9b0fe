-- purpose: moves a whole group of a queue to a point in time in one short commit, whatever the number of partitions
-- locks in order: queue (for update), group (for update)
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the same seek again gives the same start; each one ends the leases that are live
-- index used: queue_live_name, consumer_group_name_once, partition_pkey
-- The group's row gets a new id: its old lanes, and so their leases, are out of reach at once and upkeep removes them.
-- p_start: messages created at or after it are the group's; -infinity is the oldest kept, infinity is "from now on".
-- A group never seen before is registered. Answers the partitions that moved, null when there is no such queue.
-- Example: select lockstep.seek_group('orders', 'billing', '-infinity');
create or replace function lockstep.seek_group(p_queue text, p_group text, p_start timestamptz) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_queue_id int;
  v_group_id int;
  v_until bigint;
  v_moved bigint;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._demand_name('group', p_group);
  if p_start is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_start must be a time, -infinity or infinity';
  end if;
  -- For update: against a partition that is made at the same time, as when a group is registered.
  select q.id into v_queue_id from queue q where q.name = p_queue and q.deleted_at is null for update;
  if not found then
    return null;
  end if;
  v_now := lockstep.clock();
  select max(p.id), count(*) into v_until, v_moved from partition p where p.queue_id = v_queue_id;
  v_group_id := nextval(pg_get_serial_sequence('lockstep.consumer_group', 'id'));
  update consumer_group g
     set id = v_group_id, starts_at = least(p_start, v_now), backfill_after = 0, backfill_until = v_until
   where g.queue_id = v_queue_id and g.name = p_group;
  if not found then
    insert into consumer_group (queue_id, id, name, starts_at, subscription_mode, created_at, backfill_until)
      values (v_queue_id, v_group_id, p_group, least(p_start, v_now), 'from', v_now, v_until);
  end if;
  perform lockstep._audit('seek_group', json_build_object('queue', p_queue, 'group', p_group, 'start', p_start::text), json_build_object('partitions', v_moved));
  return v_moved;
end
$$;
