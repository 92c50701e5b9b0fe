-- purpose: the offset of the first message of a partition created at or after a group's start; a binary search, as
--   created_at never falls inside a partition
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_pkey, message_pkey
create or replace function lockstep._resolve_cursor(p_queue_id int, p_partition_id bigint, p_starts_at timestamptz) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_last timestamptz;
  v_created timestamptz;
begin
  select p.log_start, p.next_offset, p.last_created_at into v_low, v_high, v_last
    from partition p where p.queue_id = p_queue_id and p.id = p_partition_id;
  if p_starts_at = '-infinity' or v_last is null then
    return v_low;
  end if;
  if v_last < p_starts_at then
    return v_high;
  end if;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select m.created_at into v_created
      from message m where m.queue_id = p_queue_id and m.partition_id = p_partition_id and m."offset" = v_middle;
    if not found or v_created < p_starts_at then
      v_low := v_middle + 1;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_low;
end
$$;
