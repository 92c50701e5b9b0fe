-- purpose: moves a group's cursor on one partition to a point in time; its lease there ends, its failures are forgotten
-- locks in order: queue (for update, only to register the group), partition (no key update), lane
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the same seek again gives the same cursor
-- index used: queue_live_name, partition_name_once, consumer_group_name_once, lane_pkey, message_pkey
-- p_start as for seek_group. Answers the new cursor, null when there is no such queue or partition.
-- Example: select lockstep.seek_partition('orders', 'billing', 'acme', '2026-10-02 09:00+00');
create or replace function lockstep.seek_partition(p_queue text, p_group text, p_partition text, p_start timestamptz)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_group_id int;
  v_partition partition;
  v_cursor bigint;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._demand_name('group', p_group), lockstep._demand_name('partition', p_partition);
  if p_start is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_start must be a time, -infinity or infinity';
  end if;
  select q.id into v_queue_id from queue q where q.name = p_queue and q.deleted_at is null;
  if not found then
    return null;
  end if;
  v_group_id := (lockstep._open_group(v_queue_id, p_group, 'new', null, false)).id;
  -- The partition first: a push in flight is before the seek or after it, and lanes never wait for partitions.
  select * into v_partition from partition p where p.queue_id = v_queue_id and p.name = p_partition for no key update;
  if not found then
    return null;
  end if;
  select g.id into v_group_id from consumer_group g
   where g.queue_id = v_queue_id and g.name = p_group
     and exists (select 1 from queue q where q.id = v_queue_id and q.deleted_at is null);
  if v_group_id is null then
    return null;
  end if;
  v_now := lockstep.clock();
  v_cursor := case when p_start = '-infinity' then v_partition.log_start
                   when p_start >= v_now then v_partition.next_offset
                   else lockstep._resolve_cursor(v_queue_id, v_partition.id, p_start) end;
  insert into lane (queue_id, group_id, partition_id) values (v_queue_id, v_group_id, v_partition.id) on conflict do nothing;
  update lane l
     set committed = v_cursor, batch_end = null, lease_id = null, lease_expires_at = null, backoff_until = null,
         available_at = case when v_cursor < v_partition.next_offset then v_now end,
         failures = 0, crashes = 0, narrow_until = null, delivered_from = null, deliveries = 0,
         released_lease = null, released_digest = null, conflated_at = null, conflated_from = null
   where l.queue_id = v_queue_id and l.group_id = v_group_id and l.partition_id = v_partition.id;
  perform lockstep._audit('seek_partition', json_build_object('queue', p_queue, 'group', p_group, 'partition', p_partition, 'start', p_start::text), json_build_object('offset', v_cursor));
  return v_cursor;
end
$$;
