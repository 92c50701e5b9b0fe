-- purpose: the ids of a queue's dead letters that match a filter; a null filter matches all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: dead_letter_time
create or replace function lockstep._dead_letters(
  p_queue_id int, p_group text, p_partition text, p_error text, p_from timestamptz, p_to timestamptz)
returns setof uuid
language sql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select d.id from dead_letter d
   where d.queue_id = p_queue_id
     and (p_group is null or d.group_name = p_group) and (p_partition is null or d.partition_name = p_partition)
     and (p_error is null or strpos(d.error, p_error) > 0)
     and (p_from is null or d.failed_at >= p_from) and (p_to is null or d.failed_at < p_to)
$$;
