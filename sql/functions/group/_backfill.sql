-- purpose: makes the lanes of up to 500 partitions that are older than the group; one pass by whoever pops the group, and
--   tells whether there was one
-- locks in order: group (SKIP LOCKED: one pass at a time), partition (SKIP LOCKED)
-- raises: nothing
-- idempotent how: a lane that exists stays; backfill_after remembers how far the passes came
-- index used: consumer_group_pkey, partition_pkey
create or replace function lockstep._backfill(p_queue_id int, p_group_id int) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_group consumer_group;
  v_ids bigint[];
  v_held bigint[];
  v_now timestamptz;
begin
  select * into v_group from consumer_group g
   where g.queue_id = p_queue_id and g.id = p_group_id and g.backfill_until is not null
     for no key update skip locked;
  if not found then
    return false;
  end if;
  v_ids := array(
    select p.id from partition p
     where p.queue_id = p_queue_id and p.id > v_group.backfill_after and p.id <= v_group.backfill_until
     order by p.id limit 500); -- LIMITS.backfillPerVisit
  -- Only a lane that is made as drained could miss a push in flight: those partitions are held. Of a partition that somebody
  -- else holds the lane is made due, and whoever visits it sees.
  v_held := array(
    select p.id from partition p where p.queue_id = p_queue_id and p.id = any (v_ids) order by p.id for no key update skip locked);
  v_now := lockstep.clock();
  insert into lane (queue_id, group_id, partition_id, available_at)
    select p_queue_id, p_group_id, p.id,
           case when p.id <> all (v_held) or (p.next_offset > p.log_start and p.last_created_at >= v_group.starts_at) then v_now end
      from partition p
     where p.queue_id = p_queue_id and p.id = any (v_ids)
     order by p.id
    on conflict do nothing;
  update consumer_group g
     set backfill_after = coalesce(v_ids[cardinality(v_ids)], g.backfill_until),
         backfill_until = case when cardinality(v_ids) = 500 then g.backfill_until end
   where g.queue_id = p_queue_id and g.id = p_group_id;
  return true;
end
$$;
