-- purpose: stages the pushes of steps whose target partition is busy (or that run inside a user's transaction); a step one of
--   whose ids is staged or stored already has its own rows taken back and loses
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: nothing
-- idempotent how: see _stage; items that repeat an id within their step must not be given
-- index used: staged_once, staged_pkey
-- One row per losing step, its first losing item.
create or replace function lockstep._stage_steps(
  p_step int[], p_pos int[], p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[], p_trace_id text[],
  p_producer_sub text[], p_id uuid[])
returns table (step int, pos int, reason text, message_id uuid, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_row record;
  v_lost int[] := '{}';
begin
  for v_row in
    select p_step[s.ord] as step, p_pos[s.ord] as pos, s.status, s.message_id, s.conflict
      from lockstep._stage(p_queue, p_partition, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id) s
     where s.status <> 'queued'
     order by s.ord
  loop
    continue when v_row.step = any (v_lost);
    v_lost := v_lost || v_row.step;
    step := v_row.step;
    pos := v_row.pos;
    reason := v_row.status;
    message_id := v_row.message_id;
    conflict := v_row.conflict;
    return next;
  end loop;
  if cardinality(v_lost) > 0 then
    delete from staged s
     using unnest(p_step, p_queue, p_partition, p_id) i(step, queue, partition, id)
     where i.step = any (v_lost) and s.queue_name = i.queue and s.partition_name = i.partition and s.id = i.id;
  end if;
end
$$;
