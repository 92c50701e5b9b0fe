-- purpose: per group of a queue: messages not yet passed, those of them under a live lease, lanes that hold any
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: lane_due, partition_pkey
-- Drained lanes have no instant and are not visited: the cost follows the lanes with work, not the partitions. Partitions
-- whose lane a new group's passes have not made yet count from the group's start.
create or replace function lockstep.group_depth(p_queue_id int)
returns table (group_id int, group_name text, pending bigint, leased bigint, lanes bigint)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select g.id, g.name, coalesce(d.pending, 0) + coalesce(m.pending, 0), coalesce(d.leased, 0),
           coalesce(d.lanes, 0) + coalesce(m.lanes, 0)
      from consumer_group g
      left join lateral (
        select sum(p.next_offset - c.cursor)::bigint as pending, count(*) filter (where p.next_offset > c.cursor) as lanes,
               sum(case when l.lease_expires_at > v_now then greatest(l.batch_end - c.cursor, 0) end)::bigint as leased
          from lane l
          join partition p on p.queue_id = l.queue_id and p.id = l.partition_id
         cross join lateral (
           select greatest(p.log_start, case
             when l.committed is not null then l.committed
             when g.starts_at = '-infinity' then p.log_start
             when p.last_created_at is null or p.last_created_at < g.starts_at then p.next_offset
             else lockstep._resolve_cursor(p.queue_id, p.id, g.starts_at) end) as cursor) c
         where l.queue_id = p_queue_id and l.group_id = g.id and l.available_at is not null) d on true
      left join lateral (
        select sum(p.next_offset - c.cursor)::bigint as pending, count(*) filter (where p.next_offset > c.cursor) as lanes
          from partition p
         cross join lateral (
           select case when g.starts_at = '-infinity' then p.log_start
             when p.last_created_at is null or p.last_created_at < g.starts_at then p.next_offset
             else lockstep._resolve_cursor(p.queue_id, p.id, g.starts_at) end as cursor) c
         where g.backfill_until is not null and p.queue_id = p_queue_id
           and p.id > g.backfill_after and p.id <= g.backfill_until
           and not exists (
             select 1 from lane l where l.queue_id = p_queue_id and l.group_id = g.id and l.partition_id = p.id)) m on true
     where g.queue_id = p_queue_id
     order by g.name;
end
$$;
