-- purpose: schedules and cancels timers, many at once; each operation is judged alone
-- locks in order: timer (queue, key)
-- raises: 40001 in a caller's transaction that cannot see who was first
-- idempotent how: through a request id around it; a timer that has fired meanwhile is scheduled anew by a repeat
-- index used: timer_pkey
-- Operations on one key are carried out in the order call, pos. A cancelled timer answers the transaction id it had, an
-- absent one that of the operation.
create or replace function lockstep.timer_joined(
  p_call int[], p_pos int[], p_op text[], p_queue text[], p_key text[], p_partition text[], p_tx text[], p_payload text[],
  p_delay_ms bigint[], p_id uuid[], p_sub text[])
returns table (call_no int, pos int, status text, transaction_id text, message_id uuid, due_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_plain boolean;
  v_row record;
  v_put record;
begin
  select bool_and(u.op = 'schedule') and count(*) = count(distinct (u.queue, u.key)) into v_plain
    from unnest(p_op, p_queue, p_key) u(op, queue, key);
  if v_plain then
    return query
      select p_call[i.ord], p_pos[i.ord], case when t.revision = 0 then 'scheduled' else 'rescheduled' end, t.transaction_id,
             p_id[i.ord], lockstep.instant_text(t.due_at)
        from lockstep._timer_put(v_now, p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms, p_id, p_sub) t
        join unnest(p_queue, p_key) with ordinality i(queue, key, ord) on i.queue = t.queue and i.key = t.key;
    return;
  end if;
  for v_row in
    select u.*, u.ord::int as at from unnest(p_op, p_queue, p_key) with ordinality u(op, queue, key, ord)
     order by u.queue collate "C", u.key collate "C", p_call[u.ord], p_pos[u.ord]
  loop
    call_no := p_call[v_row.at];
    pos := p_pos[v_row.at];
    if v_row.op = 'cancel' then
      transaction_id := lockstep._timer_cancel(v_row.queue, v_row.key);
      status := case when transaction_id is null then 'absent' else 'cancelled' end;
      transaction_id := coalesce(transaction_id, p_tx[v_row.at]);
      message_id := null;
      due_at := null;
    else
      select * into v_put from lockstep._timer_put(v_now, array[v_row.queue], array[v_row.key], p_partition[v_row.at:v_row.at],
        p_tx[v_row.at:v_row.at], p_payload[v_row.at:v_row.at], p_delay_ms[v_row.at:v_row.at], p_id[v_row.at:v_row.at],
        p_sub[v_row.at:v_row.at]);
      status := case when v_put.revision = 0 then 'scheduled' else 'rescheduled' end;
      transaction_id := v_put.transaction_id;
      message_id := p_id[v_row.at];
      due_at := lockstep.instant_text(v_put.due_at);
    end if;
    return next;
  end loop;
end
$$;
