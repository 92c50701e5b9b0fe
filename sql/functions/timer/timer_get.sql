-- purpose: one pending timer
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: timer_pkey
-- Example: select deliver_at, payload from lockstep.timer_get('reminders', 'order-1');
create or replace function lockstep.timer_get(p_queue text, p_key text)
returns table (key text, partition text, deliver_at text, transaction_id text, message_id uuid, producer_sub text, attempts int,
               last_error text, created_at text, updated_at text, encrypted boolean, payload text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select t.key, t.partition_name, lockstep.instant_text(t.due_at), t.transaction_id, t.message_id, t.producer_sub, t.attempts,
           t.last_error, lockstep.instant_text(t.created_at), lockstep.instant_text(t.updated_at), lockstep._sealed(t.payload), t.payload
      from timer t where t.queue_name = p_queue and t.key = p_key and t.revision >= 0;
end
$$;
