-- purpose: gives every key that a call may schedule a row, and locks the rows of all its keys until the commit
-- locks in order: timer (queue, key)
-- raises: nothing
-- idempotent how: a row that exists is only locked
-- index used: timer_pkey
-- The row of an absent key has revision -1 and never fires; _timer_unlock takes back those that stayed so. Needed only where
-- something else is judged between the lock and the write.
create or replace function lockstep._timer_lock(p_op text[], p_queue text[], p_key text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_row record;
begin
  -- One at a time, in the order of the keys: two statements for a stretch of them would take the rows in two orders.
  for v_row in
    select l.queue, l.key, bool_or(l.op = 'schedule') as makes
      from (select u.op, u.queue collate "C" as queue, u.key collate "C" as key from unnest(p_op, p_queue, p_key) u(op, queue, key)) l
     group by l.queue, l.key order by l.queue, l.key
  loop
    if v_row.makes then
      insert into timer (queue_name, key, partition_name, due_at, fire_at, message_id, transaction_id, payload, attempts,
                         revision, created_at, updated_at)
        values (v_row.queue, v_row.key, '', 'infinity', 'infinity', '00000000-0000-0000-0000-000000000000', '', '', 0, -1, v_now, v_now)
        on conflict (queue_name, key) do update set revision = timer.revision where false;
    else
      perform 1 from timer t where t.queue_name = v_row.queue and t.key = v_row.key for no key update;
    end if;
  end loop;
end
$$;
