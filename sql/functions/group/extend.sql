-- purpose: moves the end of a live lease to at least now + seconds, on every lane leased under it
-- locks in order: lane (queue, partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: the end only moves forward; a lapsed or unknown lease is never brought back
-- index used: lane_lease, lane_pkey, consumer_group_pkey
-- available_at stays: whoever visits the lane at the old end sees the new one and moves it, so a heartbeat touches no index.
create or replace function lockstep.extend(p_lease_id text, p_seconds int, out renewed int, out expires_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_now timestamptz;
  v_lease interval := make_interval(secs => p_seconds);
  v_end timestamptz;
  v_last timestamptz;
  v_count int;
begin
  perform lockstep._demand_read_committed();
  renewed := 0;
  foreach v_queue_id in array array(select distinct l.queue_id from lane l where l.lease_id = p_lease_id order by 1) loop
    perform 1 from lane l where l.queue_id = v_queue_id and l.lease_id = p_lease_id
      order by l.partition_id, l.group_id for no key update;
    v_now := lockstep.clock();
    with moved as (
      update lane l set lease_expires_at = greatest(l.lease_expires_at, v_now + v_lease)
       where l.queue_id = v_queue_id and l.lease_id = p_lease_id and l.lease_expires_at > v_now
         -- A seek or a deletion leaves lanes behind that upkeep has not removed yet: their leases are dead.
         and exists (select 1 from consumer_group g join queue q on q.id = g.queue_id
                      where g.queue_id = v_queue_id and g.id = l.group_id and q.deleted_at is null)
      returning l.lease_expires_at
    )
    select count(*), max(m.lease_expires_at) into v_count, v_end from moved m;
    renewed := renewed + v_count;
    v_last := greatest(v_last, v_end);
  end loop;
  expires_at := lockstep.instant_text(v_last);
end
$$;
