-- purpose: one step of a walk over the partitions of a queue: moves the start of logs past what its retention options let go
-- locks in order: partition (id, SKIP LOCKED), lane (partition, group; SKIP LOCKED, only lanes whose cursor is passed)
-- raises: LS425 isolation_not_supported
-- idempotent how: what is held by others is left to the next walk
-- index used: partition_pkey, message_pkey, lane_pkey
-- Looks at 1,000 partitions after p_after and changes at most 100 in one commit; next_after is null at the end. No message is
-- deleted here, so that partitions are held for an instant only: what is cut off is written down for remove_cut.
create or replace function lockstep.cut_logs(p_queue_id int, p_after bigint, out next_after bigint, out cut bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue queue;
  v_now timestamptz := lockstep.clock();
  v_wait timestamptz;
  v_old timestamptz;
  v_done timestamptz;
  v_ids bigint[];
  v_due bigint[];
  v_most int;
begin
  perform lockstep._demand_read_committed();
  cut := 0;
  select * into v_queue from queue q where q.id = p_queue_id and q.deleted_at is null;
  v_wait := v_now - make_interval(secs => nullif(v_queue.max_wait_seconds, 0));
  if v_queue.retention_enabled then
    v_old := v_now - make_interval(secs => nullif(v_queue.retention_seconds, 0));
    v_done := v_now - make_interval(secs => nullif(v_queue.completed_retention_seconds, 0));
  end if;
  if greatest(v_wait, v_old, v_done) is null then
    return;
  end if;
  v_ids := array(
    select p.id from partition p where p.queue_id = p_queue_id and p.id > p_after order by p.id limit 1000);
  next_after := v_ids[1000];
  -- Each is held while the lanes of all groups on all of them are looked at.
  select greatest(100 / greatest(count(*) / 10, 1), 1) into v_most from consumer_group g where g.queue_id = p_queue_id;
  v_due := array(
    select p.id
      from partition p
     cross join lateral (
       select m.created_at from message m
        where m.queue_id = p_queue_id and m.partition_id = p.id and m."offset" >= p.log_start order by m."offset" limit 1) m
     where p.queue_id = p_queue_id and p.id = any (v_ids) and p.next_offset > p.log_start
       and m.created_at < greatest(v_wait, v_old, v_done)
     order by p.id limit v_most);
  if cardinality(v_due) = v_most then
    next_after := v_due[v_most];
  end if;
  if cardinality(v_due) > 0 then
    cut := lockstep._cut_partitions(p_queue_id, v_due, v_wait, v_old, v_done);
  end if;
end
$$;
