-- purpose: schedules timers of different keys: a key that has one gets the new one in its place
-- locks in order: timer (queue, key)
-- raises: LS426 encryption_required; 40001 in a caller's transaction that cannot see who was first
-- idempotent how: none: the time is counted from each call
-- index used: timer_pkey
create or replace function lockstep._timer_put(
  p_now timestamptz, p_queue text[], p_key text[], p_partition text[], p_tx text[], p_payload text[], p_delay_ms bigint[],
  p_id uuid[], p_sub text[])
returns table (queue text, key text, revision int, transaction_id text, due_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_row record;
begin
  for v_row in
    select i.queue, array_agg(i.payload) as payloads
      from unnest(p_queue, p_payload) i(queue, payload)
      join queue q on q.name = i.queue and q.deleted_at is null and q.encryption_enabled
     group by 1
  loop
    perform lockstep._demand_sealed(v_row.queue, v_row.payloads);
  end loop;
  return query
    insert into timer as t (queue_name, key, partition_name, due_at, fire_at, message_id, transaction_id, payload, producer_sub,
                            attempts, revision, created_at, updated_at)
      select i.queue, i.key, i.partition, d.due_at, d.due_at, i.id, coalesce(i.tx, i.id::text), i.payload, i.sub, 0, 0, p_now, p_now
        from unnest(p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms, p_id, p_sub)
             i(queue, key, partition, tx, payload, delay_ms, id, sub)
       cross join lateral (select p_now + make_interval(secs => greatest(i.delay_ms, 0) / 1000.0) as due_at) d
       order by i.queue collate "C", i.key collate "C"
      on conflict on constraint timer_pkey do update
         set partition_name = excluded.partition_name, due_at = excluded.due_at, fire_at = excluded.fire_at,
             message_id = excluded.message_id, transaction_id = excluded.transaction_id, payload = excluded.payload,
             producer_sub = excluded.producer_sub, attempts = 0, last_error = null, revision = t.revision + 1,
             updated_at = excluded.updated_at
      returning t.queue_name, t.key, t.revision, t.transaction_id, t.due_at;
end
$$;
