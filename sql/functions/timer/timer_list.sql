-- purpose: pending timers of a queue behind a key, in byte order of their keys, without payloads
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: timer_pkey
-- Example: select key, deliver_at from lockstep.timer_list('reminders');
create or replace function lockstep.timer_list(p_queue text, p_after text default '', p_limit int default 100)
returns table (key text, partition text, deliver_at text, transaction_id text, message_id uuid, producer_sub text, attempts int,
               last_error text, created_at text, updated_at text, encrypted boolean)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
    select t.key, t.partition_name, lockstep.instant_text(t.due_at), t.transaction_id, t.message_id, t.producer_sub, t.attempts,
           t.last_error, lockstep.instant_text(t.created_at), lockstep.instant_text(t.updated_at), lockstep._sealed(t.payload)
      from timer t
     where t.queue_name = p_queue and t.key > p_after and t.revision >= 0
     order by t.key limit least(greatest(p_limit, 0), 1001); -- one more than a page: whether there is another
end
$$;
