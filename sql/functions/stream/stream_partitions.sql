-- purpose: the partitions of which a query remembers something, page by page, optionally only those left alone for a while
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: stream_state_pkey, partition_pkey
-- p_untouched_ms: only partitions whose newest state is at least this old. more: the page is full; go on behind its last one.
--   A page looks at p_limit partitions at most and may hold fewer, with more saying where to go on.
create or replace function lockstep.stream_partitions(
  p_query_id int, p_after_queue_id int, p_after_partition_id bigint, p_untouched_ms bigint, p_limit int)
returns table (queue_id int, partition_id bigint, queue_name text, partition_name text, updated_at timestamptz, listed boolean)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_untouched constant timestamptz := lockstep.clock() - make_interval(secs => coalesce(p_untouched_ms, 0) / 1000.0);
begin
  queue_id := coalesce(p_after_queue_id, 0);
  partition_id := coalesce(p_after_partition_id, 0);
  for v_nth in 1 .. p_limit loop
    -- One step of the index per partition, however much is remembered of it.
    select s.queue_id, s.partition_id into queue_id, partition_id
      from stream_state s
     where s.query_id = p_query_id and (s.queue_id, s.partition_id) > (stream_partitions.queue_id, stream_partitions.partition_id)
     order by s.queue_id, s.partition_id limit 1;
    exit when not found;
    select max(s.updated_at) into updated_at
      from stream_state s
     where s.query_id = p_query_id and s.queue_id = stream_partitions.queue_id and s.partition_id = stream_partitions.partition_id;
    select q.name, p.name into queue_name, partition_name
      from partition p join queue q on q.id = p.queue_id and q.deleted_at is null
     where p.queue_id = stream_partitions.queue_id and p.id = stream_partitions.partition_id;
    listed := found and (p_untouched_ms is null or updated_at <= v_untouched);
    return next;
  end loop;
end
$$;
