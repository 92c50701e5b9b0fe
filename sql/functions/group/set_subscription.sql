-- purpose: changes where a group starts on partitions it has not seen yet, on every queue it is registered for; moves no cursor
-- locks in order: queue (for update, by id), group (no key update)
-- raises: LS400 bad_request, LS425 isolation_not_supported
-- idempotent how: sets a value
-- index used: queue_pkey, consumer_group_name_once
create or replace function lockstep.set_subscription(p_group text, p_start timestamptz) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_queue_id int;
  v_changed bigint := 0;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  if p_start is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_start must be a time';
  end if;
  foreach v_queue_id in array array(
    select q.id from queue q
      join consumer_group g on g.queue_id = q.id and g.name = p_group
     where q.deleted_at is null
     order by q.id)
  loop
    perform 1 from queue q where q.id = v_queue_id and q.deleted_at is null for update;
    continue when not found;
    update consumer_group g set starts_at = p_start, subscription_mode = 'from'
     where g.queue_id = v_queue_id and g.name = p_group;
    v_changed := v_changed + case when found then 1 else 0 end;
    -- Cursors that nobody resolved yet follow the new start: their lanes are worth a visit again.
    v_now := lockstep.clock();
    perform 1 from lane l
      where l.queue_id = v_queue_id and l.committed is null and l.available_at is null
        and l.group_id = (select g.id from consumer_group g where g.queue_id = v_queue_id and g.name = p_group)
      order by l.partition_id for no key update;
    update lane l set available_at = v_now
     where l.queue_id = v_queue_id and l.committed is null and l.available_at is null
       and l.group_id = (select g.id from consumer_group g where g.queue_id = v_queue_id and g.name = p_group);
  end loop;
  perform lockstep._audit('set_subscription', json_build_object('group', p_group, 'start', p_start::text), json_build_object('queues', v_changed));
  return v_changed;
end
$$;
