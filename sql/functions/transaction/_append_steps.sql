-- purpose: stores the pushes of winning steps whose target partitions the call holds, queue by queue, and answers every push of
--   a winning step
-- locks in order: lane (partition, group), by waking
-- raises: nothing
-- idempotent how: the steps were judged under the same partitions' locks
-- index used: see _append
-- An item without target was staged and has no offset yet; a repeat within a step answers duplicate.
create or replace function lockstep._append_steps(
  p_answer text[], p_step int[], p_pos int[], p_queue text[], p_partition text[], p_tx text[], p_payload text[], p_trace text[], p_sub text[], p_id uuid[],
  p_target bigint[], p_queue_names text[], p_queue_ids int[])
returns table (step int, pos int, status text, message_id uuid, message_offset bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_lost boolean := cardinality(array_remove(p_answer, null)) > 0;
  v_target bigint[] := p_target;
begin
  if v_lost then
    v_target := array(select case when p_answer[i.step] is null then i.target end
                        from unnest(p_step, p_target) with ordinality i(step, target, ord) order by i.ord);
  end if;
  if cardinality(p_queue_names) = 1 then
    return query
      select p_step[a.nth], p_pos[a.nth], a.status, a.message_id, a.message_offset
        from lockstep._append(p_queue_ids[1], v_target, p_tx, p_payload, p_trace, p_sub, p_id) a;
  elsif cardinality(p_queue_names) > 1 then
    return query
      select p_step[s.ords[a.nth]], p_pos[s.ords[a.nth]], a.status, a.message_id, a.message_offset
        from (select * from lockstep._slices(p_queue, p_partition, v_target, '{}', p_tx, p_payload, p_trace, p_sub, p_id) u
               where not u.is_busy) s
       cross join lateral lockstep._append(p_queue_ids[array_position(p_queue_names, s.queue)], s.partition_ids, s.txs, s.payloads,
               s.traces, s.subs, s.ids) a;
  end if;
  if array_position(v_target, null) is not null then
    return query
      select i.step, i.pos, case when i.nth = 1 then 'queued' else 'duplicate' end, i.first_id, null::bigint
        from (select *, row_number() over same as nth, first_value(u.id) over same as first_id
                from unnest(p_target, p_step, p_pos, p_queue, p_partition, p_tx, p_id)
                     with ordinality u(target, step, pos, queue, partition, tx, id, ord)
              window same as (partition by u.step, u.queue, u.partition, coalesce(u.tx, u.id::text) order by u.ord)) i
       where i.target is null and p_answer[i.step] is null;
  end if;
end
$$;
