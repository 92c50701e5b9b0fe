-- purpose: hands a lease back at once and spends nothing: the caller never started, or shuts down
-- locks in order: lane (queue, partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: a lapsed, taken over or unknown lease changes nothing
-- index used: lane_lease, lane_pkey
create or replace function lockstep.release(p_lease_id text) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_now timestamptz;
  v_count int;
  v_released int := 0;
begin
  perform lockstep._demand_read_committed();
  foreach v_queue_id in array array(select distinct l.queue_id from lane l where l.lease_id = p_lease_id order by 1) loop
    perform 1 from lane l where l.queue_id = v_queue_id and l.lease_id = p_lease_id
      order by l.partition_id, l.group_id for no key update;
    v_now := lockstep.clock();
    -- The delivery never reached anybody: it is not counted as one.
    update lane l
       set lease_id = null, lease_expires_at = null, batch_end = null, available_at = v_now,
           deliveries = greatest(l.deliveries - 1, 0),
           delivered_from = case when l.deliveries > 1 then l.delivered_from end
     where l.queue_id = v_queue_id and l.lease_id = p_lease_id and l.lease_expires_at > v_now
       and exists (select 1 from consumer_group g join queue q on q.id = g.queue_id
                    where g.queue_id = v_queue_id and g.id = l.group_id and q.deleted_at is null);
    get diagnostics v_count = row_count;
    v_released := v_released + v_count;
  end loop;
  return v_released;
end
$$;
