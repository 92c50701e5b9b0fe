-- purpose: moves the start of these logs past what is older than the instants given: p_wait whoever still needs it, p_old unless a
--   live lease holds it, p_done as far as every group has passed it; answers how many messages that were
-- locks in order: partition (id, SKIP LOCKED), lane (partition, group; SKIP LOCKED)
-- raises: nothing
-- idempotent how: a log's start only moves forward; a partition with a lane that somebody holds is left as it is
-- index used: partition_pkey, message_pkey, consumer_group_pkey, lane_pkey
-- While the partitions are held no cursor of theirs moves back. A group that has no lane yet, or has not looked up where it
-- begins, counts from its start; a queue without groups has passed nothing.
create or replace function lockstep._cut_partitions(
  p_queue_id int, p_ids bigint[], p_wait timestamptz, p_old timestamptz, p_done timestamptz) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_waited bigint[];
  v_aged bigint[];
  v_settled bigint[];
  v_held bigint[];
  v_until bigint[];
  v_groups int[];
  v_locked bigint[];
  v_busy bigint[];
  v_now timestamptz;
  v_cut bigint;
begin
  -- Ages only grow: looked up before anything is held.
  select array_agg(case when p_wait is not null then lockstep._resolve_cursor(p_queue_id, i.id, p_wait) end order by i.ord),
         array_agg(case when p_old is not null then lockstep._resolve_cursor(p_queue_id, i.id, p_old) end order by i.ord),
         array_agg(case when p_done is not null then lockstep._resolve_cursor(p_queue_id, i.id, p_done) end order by i.ord)
    into v_waited, v_aged, v_settled
    from unnest(p_ids) with ordinality i(id, ord);
  v_held := array(
    select p.id from partition p where p.queue_id = p_queue_id and p.id = any (p_ids) order by p.id for no key update skip locked);
  -- How far each may go, live leases not considered yet.
  v_until := array(
    select greatest(p.log_start, v_waited[i.ord], v_aged[i.ord], least(v_settled[i.ord], g.passed))
      from unnest(p_ids) with ordinality i(id, ord)
      join partition p on p.queue_id = p_queue_id and p.id = i.id
     cross join lateral (
       select case when p_done is null then p.log_start else coalesce(min(
                coalesce(l.committed, lockstep._resolve_cursor(p_queue_id, i.id, g.starts_at))), p.log_start) end as passed
         from consumer_group g
         left join lane l on l.queue_id = p_queue_id and l.group_id = g.id and l.partition_id = i.id
        where g.queue_id = p_queue_id) g
     order by i.ord);
  v_groups := array(select g.id from consumer_group g where g.queue_id = p_queue_id);
  -- A pop holds its lane from the look to the commit: nothing that it leases is taken from under it.
  with locked as materialized (
    select l.partition_id from lane l
     where l.queue_id = p_queue_id and l.partition_id = any (v_held) and l.group_id = any (v_groups)
       and coalesce(l.committed, 0) < v_until[array_position(p_ids, l.partition_id)]
     order by l.partition_id, l.group_id
       for no key update skip locked
  )
  select coalesce(array_agg(d.partition_id), '{}') into v_locked from locked d;
  v_busy := array(
    select l.partition_id from lane l
     where l.queue_id = p_queue_id and l.partition_id = any (v_held) and l.group_id = any (v_groups)
       and coalesce(l.committed, 0) < v_until[array_position(p_ids, l.partition_id)]
     group by l.partition_id
    having count(*) > (select count(*) from unnest(v_locked) d(id) where d.id = l.partition_id));
  v_now := lockstep.clock();
  with target as materialized (
    select p.id, p.log_start, greatest(p.log_start, v_waited[i.ord], least(v_until[i.ord], c.leased)) as cut
      from unnest(p_ids) with ordinality i(id, ord)
      join partition p on p.queue_id = p_queue_id and p.id = i.id
     cross join lateral (
       select min(l.committed) as leased
         from consumer_group g
         join lane l on l.queue_id = p_queue_id and l.group_id = g.id and l.partition_id = i.id
        where g.queue_id = p_queue_id and l.lease_expires_at > v_now) c
     where i.id = any (v_held) and i.id <> all (v_busy)
  ), moved as (
    update partition p set log_start = t.cut from target t
     where p.queue_id = p_queue_id and p.id = t.id and t.cut > p.log_start
    returning p.id, t.log_start, t.cut
  ), noted as (
    insert into log_cut (queue_id, partition_id, from_offset, to_offset)
      select p_queue_id, m.id, m.log_start, m.cut from moved m
  )
  select coalesce(sum(m.cut - m.log_start), 0) into v_cut from moved m;
  -- Only p_wait cuts into a live lease: what is left of the batch stays leased, an empty one ends.
  update lane l
     set committed = p.log_start, failures = 0, crashes = 0,
         batch_end = case when l.batch_end > p.log_start then l.batch_end end,
         lease_id = case when l.batch_end > p.log_start then l.lease_id end,
         lease_expires_at = case when l.batch_end > p.log_start then l.lease_expires_at end,
         available_at = case when l.batch_end > p.log_start then l.available_at else v_now end
    from partition p
   where p.queue_id = p_queue_id and p.id = any (v_held) and p.id <> all (v_busy) and l.queue_id = p_queue_id and l.partition_id = p.id
     and l.group_id = any (v_groups) and l.lease_expires_at > v_now and l.committed < p.log_start;
  return v_cut;
end
$$;
