-- purpose: makes the waiting lanes of a queue due, so that the next pop judges anew when they may be delivered
-- locks in order: lane (partition, group)
-- raises: nothing
-- idempotent how: a visit puts a lane that is not ripe back at its own instant; leased and failing lanes are left alone
-- index used: consumer_group_pkey, lane_due
create or replace function lockstep._rejudge_lanes(p_queue_id int) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_groups int[] := array(select g.id from consumer_group g where g.queue_id = p_queue_id);
begin
  perform 1 from lane l
    where l.queue_id = p_queue_id and l.group_id = any (v_groups) and l.available_at > v_now
      and l.lease_id is null and (l.backoff_until is null or l.backoff_until <= v_now)
    order by l.partition_id, l.group_id
      for no key update;
  v_now := lockstep.clock();
  update lane l set available_at = v_now
   where l.queue_id = p_queue_id and l.group_id = any (v_groups) and l.available_at > v_now
     and l.lease_id is null and (l.backoff_until is null or l.backoff_until <= v_now);
end
$$;
