-- purpose: fires due timers of one queue: their rows go and their messages are staged in one commit; answers how many
-- locks in order: timer (queue, key), SKIP LOCKED
-- raises: LS425 isolation_not_supported
-- idempotent how: the row is the schedule: whoever holds it fires it, and it is gone with the push
-- index used: timer_pkey, staged_pkey
-- Staged, not stored: no partition is waited for. A pop that is woken places them, or upkeep within a second. They are judged
-- for no duplicate: one schedule is one delivery. A queue that is full keeps its timers waiting.
create or replace function lockstep.fire_timers(p_queue text, p_keys text[]) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz;
  v_keys text[];
  v_seq bigint[];
  v_room bigint;
begin
  perform lockstep._demand_read_committed();
  v_keys := array(select t.key from timer t where t.queue_name = p_queue and t.key = any (p_keys)
                   order by t.key for no key update skip locked);
  v_now := lockstep.clock();
  -- In a later statement: what was rescheduled before it was locked may not be due any more.
  v_keys := array(select t.key from timer t where t.queue_name = p_queue and t.key = any (v_keys) and t.fire_at <= v_now
                   order by t.due_at, t.key);
  if cardinality(v_keys) = 0 then
    return 0;
  end if;
  select q.max_size - lockstep._waiting(q.id) - (select count(*) from staged s where s.queue_name = p_queue) into v_room
    from queue q where q.name = p_queue and q.deleted_at is null and q.max_size > 0;
  if v_room < cardinality(v_keys) then
    v_room := greatest(v_room, 0);
    update timer t set attempts = t.attempts + 1, last_error = 'queue_full', updated_at = v_now,
           fire_at = v_now + make_interval(secs => least(power(2, least(t.attempts, 6)), 60))
     where t.queue_name = p_queue and t.key = any (v_keys[v_room + 1:]);
    v_keys := v_keys[:v_room];
  end if;
  v_seq := array(select nextval('lockstep.staged_seq') from generate_series(1, cardinality(v_keys)));
  with fired as (
    delete from timer t using unnest(v_keys, v_seq) u(key, seq)
     where t.queue_name = p_queue and t.key = u.key
    returning u.seq, t.queue_name, t.partition_name, t.message_id, t.transaction_id, t.payload, t.producer_sub
  )
  insert into staged (queue_name, partition_name, seq, id, transaction_id, payload, producer_sub)
    select f.queue_name, f.partition_name, f.seq, f.message_id, f.transaction_id, f.payload, f.producer_sub from fired f;
  return cardinality(v_keys);
end
$$;
