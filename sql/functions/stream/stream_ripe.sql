-- purpose: the partitions of which a query remembers a window that is over, the oldest first, and how long until the next one is
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: stream_query_pkey, stream_state_due
-- A window is over when its windowEnd is at least p_grace_ms ago. No row at all: no such query. A row without a partition says how many
--   milliseconds are left until the next window is over; it is missing when the page is full, and its wait_ms is null without any window.
create or replace function lockstep.stream_ripe(p_query_id int, p_grace_ms bigint, p_limit int)
returns table (queue_id int, partition_id bigint, wait_ms bigint)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_over constant double precision := extract(epoch from lockstep.clock()) * 1000 - p_grace_ms;
  v_found int;
begin
  perform 1 from stream_query q where q.id = p_query_id and q.wiped_at is null;
  if not found then
    return;
  end if;
  -- Many keys of one partition are over at once: as many entries of the index are walked as a claim's page may need.
  return query
    select d.queue_id, d.partition_id, null::bigint
      from (select s.queue_id, s.partition_id, s.window_end from stream_state s
             where s.query_id = p_query_id and s.window_end <= v_over
             order by s.window_end limit p_limit * 10) d
     group by d.queue_id, d.partition_id
     order by min(d.window_end), d.queue_id, d.partition_id limit p_limit;
  get diagnostics v_found = row_count;
  if v_found < p_limit then
    queue_id := null;
    partition_id := null;
    select ceil(min(s.window_end) - v_over)::bigint into wait_ms
      from stream_state s where s.query_id = p_query_id and s.window_end > v_over;
    return next;
  end if;
end
$$;
