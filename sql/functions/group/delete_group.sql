-- purpose: forgets a group on one queue, or on all when p_queue is null: its cursors and leases, and (p_metadata) that it
--   was ever registered; a group of the same name then starts afresh
-- locks in order: queue (for update, by id), group (for update)
-- raises: LS425 isolation_not_supported
-- idempotent how: an unknown group answers zeros
-- index used: queue_live_name, queue_pkey, consumer_group_name_once
-- p_metadata false keeps the registration: the group starts again from where it was subscribed. Lanes are removed by upkeep.
create or replace function lockstep.delete_group(
  p_queue text, p_group text, p_metadata boolean default true, out deleted_partitions bigint, out deleted_queues bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_queue_id int;
  v_group_id int;
  v_fresh_id int;
  v_until bigint;
  v_lanes bigint;
begin
  perform lockstep._demand_read_committed();
  deleted_partitions := 0;
  deleted_queues := 0;
  foreach v_queue_id in array array(
    select q.id from queue q
      join consumer_group g on g.queue_id = q.id and g.name = p_group
     where q.deleted_at is null and (p_queue is null or q.name = p_queue)
     order by q.id)
  loop
    perform 1 from queue q where q.id = v_queue_id and q.deleted_at is null for update;
    continue when not found;
    select g.id into v_group_id from consumer_group g where g.queue_id = v_queue_id and g.name = p_group;
    continue when not found;
    select count(*) into v_lanes from lane l where l.queue_id = v_queue_id and l.group_id = v_group_id;
    if p_metadata then
      delete from consumer_group g where g.queue_id = v_queue_id and g.name = p_group;
    else
      select max(p.id) into v_until from partition p where p.queue_id = v_queue_id;
      v_fresh_id := nextval(pg_get_serial_sequence('lockstep.consumer_group', 'id'));
      update consumer_group g set id = v_fresh_id, backfill_after = 0, backfill_until = v_until
       where g.queue_id = v_queue_id and g.name = p_group;
    end if;
    deleted_partitions := deleted_partitions + v_lanes;
    deleted_queues := deleted_queues + 1;
  end loop;
  perform lockstep._audit('delete_group', json_build_object('queue', p_queue, 'group', p_group, 'metadata', p_metadata), json_build_object('queues', deleted_queues, 'partitions', deleted_partitions));
end
$$;
