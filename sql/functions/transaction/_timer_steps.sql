-- purpose: schedules and cancels the timers of winning steps; one list of answers per step that has any
-- locks in order: none (the caller took the rows by _timer_lock)
-- raises: nothing
-- idempotent how: part of the step
-- index used: timer_pkey
create or replace function lockstep._timer_steps(
  p_answer text[], p_step int[], p_pos int[], p_op text[], p_queue text[], p_key text[], p_partition text[], p_tx text[],
  p_payload text[], p_delay_ms bigint[], p_id uuid[], p_sub text[])
returns table (step int, answer text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  return query
    select t.call_no, string_agg(json_build_array(t.pos, t.status, t.transaction_id, t.message_id, t.due_at)::text, ',' order by t.pos)
      from (select array_agg(u.step) as steps, array_agg(u.pos) as poss, array_agg(u.op) as ops, array_agg(u.queue) as queues,
                   array_agg(u.key) as keys, array_agg(u.partition) as partitions, array_agg(u.tx) as txs,
                   array_agg(u.payload) as payloads, array_agg(u.delay_ms) as delays, array_agg(u.id) as ids, array_agg(u.sub) as subs
              from unnest(p_step, p_pos, p_op, p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms, p_id, p_sub)
                   u(step, pos, op, queue, key, partition, tx, payload, delay_ms, id, sub)
             where p_answer[u.step] is null
            having count(*) > 0) w
     cross join lateral lockstep.timer_joined(w.steps, w.poss, w.ops, w.queues, w.keys, w.partitions, w.txs, w.payloads, w.delays,
             w.ids, w.subs) t
     group by t.call_no;
  perform lockstep._timer_unlock(p_queue, p_key);
end
$$;
