-- purpose: holds the lanes leased under these ids to the end of the transaction and tells which of the ids have no live lease
-- locks in order: lane (queue, partition, group)
-- raises: LS425 isolation_not_supported; 55P03 when a lane is held by somebody for longer than a moment
-- idempotent how: changes nothing; a lapsed or unknown lease is never brought back
-- index used: lane_lease, lane_pkey, consumer_group_pkey
-- Called behind a step's own lane locks, so its order is not the whole transaction's: the wait is bounded well below the time
-- after which two that wait for each other would be called a deadlock.
create or replace function lockstep.hold_leases(p_lease_id text[]) returns text[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set lock_timeout = '250ms'
as $$
declare
  v_queue_id int;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  foreach v_queue_id in array array(select distinct l.queue_id from lane l where l.lease_id = any (p_lease_id) order by 1) loop
    perform 1 from lane l where l.queue_id = v_queue_id and l.lease_id = any (p_lease_id)
      order by l.partition_id, l.group_id for no key update;
  end loop;
  v_now := lockstep.clock();
  return array(
    select i.lease_id
      from unnest(p_lease_id) with ordinality i(lease_id, nth)
     where not exists (
             select from lane l
               join consumer_group g on g.queue_id = l.queue_id and g.id = l.group_id
               join queue q on q.id = l.queue_id
              where l.lease_id = i.lease_id and l.lease_expires_at > v_now and q.deleted_at is null)
     order by i.nth);
end
$$;
