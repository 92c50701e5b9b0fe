-- purpose: counts of a queue: partitions, messages kept, and against its slowest group what waits, is leased and is done
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_pkey, dead_letter_pkey
-- Without a group everything kept is pending. One walk over the partitions' heads, one over the lanes with work.
create or replace function lockstep.queue_counts(
  p_queue_id int, out partitions bigint, out total bigint, out pending bigint, out processing bigint, out completed bigint,
  out dead_letter bigint)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_behind bigint;
begin
  select count(*), coalesce(sum(p.next_offset - p.log_start), 0) into partitions, total
    from partition p where p.queue_id = p_queue_id;
  select d.pending, d.leased into v_behind, processing
    from lockstep.group_depth(p_queue_id) d order by d.pending desc, d.leased limit 1;
  v_behind := coalesce(v_behind, total);
  processing := coalesce(processing, 0);
  pending := greatest(v_behind - processing, 0);
  completed := greatest(total - v_behind, 0);
  select count(*) into dead_letter from dead_letter d where d.queue_id = p_queue_id;
end
$$;
