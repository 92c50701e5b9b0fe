-- purpose: removes the dead letters of a queue that match a filter, in one commit; p_dry only counts them
-- locks in order: dead letter
-- raises: nothing
-- idempotent how: what is removed is gone
-- index used: queue_live_name, dead_letter_time, dead_letter_pkey
-- Null filters match all. Answers how many, null when there is no such queue.
create or replace function lockstep.purge_dead_letters(
  p_queue text, p_group text default null, p_partition text default null, p_error text default null,
  p_from timestamptz default null, p_to timestamptz default null, p_dry boolean default false)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_queue_id int;
  v_ids uuid[];
  v_count bigint;
begin
  select q.id into v_queue_id from queue q where q.name = p_queue and q.deleted_at is null;
  if not found then
    return null;
  end if;
  v_ids := array(select i from lockstep._dead_letters(v_queue_id, p_group, p_partition, p_error, p_from, p_to) i order by i);
  if p_dry then
    return cardinality(v_ids);
  end if;
  with locked as materialized (
    select d.id from dead_letter d where d.queue_id = v_queue_id and d.id = any (v_ids) order by d.id for update
  ), gone as (
    delete from dead_letter d using locked where d.queue_id = v_queue_id and d.id = locked.id returning 1
  )
  select count(*) into v_count from gone;
  perform lockstep._audit('purge_dead_letters', json_build_object('queue', p_queue, 'group', p_group, 'partition', p_partition, 'error', left(p_error, 256),
    'from', p_from::text, 'to', p_to::text), json_build_object('deleted', v_count));
  return v_count;
end
$$;
