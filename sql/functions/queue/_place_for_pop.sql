-- purpose: places what is staged for a queue (or one partition of it) before a pop looks; answers whether staged rows
--   remain because another session holds their partition
-- locks in order: queue (key share, only for new partitions), partition (id; SKIP LOCKED, or waiting when p_wait), lane
-- raises: 55P03 when p_wait and the caller's lock_timeout is over
-- idempotent how: see _place
-- index used: staged_queue, staged_pkey
create or replace function lockstep._place_for_pop(
  p_queue_id int, p_name text, p_partition text, p_floor bigint, p_wait boolean, out remains boolean, out lowest bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_names text[];
  v_ids bigint[];
begin
  if p_partition is null then
    select array_agg(distinct s.partition_name), min(s.seq) into v_names, lowest
      from (select u.partition_name, u.seq from staged u
             where u.queue_name = p_name and u.seq >= p_floor order by u.seq limit 1000) s;
  else
    select array[p_partition], min(s.seq) into v_names, lowest
      from staged s where s.queue_name = p_name and s.partition_name = p_partition
    having count(*) > 0;
  end if;
  remains := false;
  if v_names is null or not lockstep._open_partitions(p_queue_id, v_names) then
    return;
  end if;
  if p_wait then
    v_ids := array(select p.id from partition p where p.queue_id = p_queue_id and p.name = any (v_names)
                    order by p.id for no key update);
  else
    v_ids := array(select p.id from partition p where p.queue_id = p_queue_id and p.name = any (v_names)
                    order by p.id for no key update skip locked);
  end if;
  -- Nothing placed: the queue is being deleted or registered to; the next look resolves its name again.
  remains := cardinality(v_ids) < cardinality(v_names);
  if cardinality(v_ids) > 0 then
    remains := lockstep._place(p_queue_id, p_name, v_ids, 1000) = 0 or remains; -- LIMITS.placedPerVisit
  end if;
end
$$;
