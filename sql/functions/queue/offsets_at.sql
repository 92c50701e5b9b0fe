-- purpose: for each entry the offset of its partition's first kept message created at or after an instant, with the partition's
--   bounds; after every message it is the next offset to be given
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: queue_live_name, partition_name_once, message_pkey
-- queue_id is null without such a queue; a partition that is not there yet is an empty one.
create or replace function lockstep.offsets_at(p_queue text[], p_partition text[], p_from timestamptz[])
returns table (entry int, queue_id int, at bigint, next_offset bigint, log_start bigint, created_at text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off
as $$
  select e.nth::int, q.id, coalesce(f.at, 0), coalesce(p.next_offset, 0), coalesce(p.log_start, 0),
         (select lockstep.instant_text(m.created_at) from message m
           where m.queue_id = q.id and m.partition_id = p.id and m."offset" = f.at and m."offset" < p.next_offset)
    from unnest(p_queue, p_partition, p_from) with ordinality e(queue, name, from_instant, nth)
    left join queue q on q.name = e.queue and q.deleted_at is null
    left join partition p on p.queue_id = q.id and p.name = e.name
   cross join lateral (
     select case when p.id is not null then lockstep._resolve_cursor(q.id, p.id, e.from_instant) end as at) f
   order by e.nth
$$;
