-- purpose: of the pushes of a joined call those that must be staged: their step still stands, their partition is not held, and
--   they do not repeat an id within their step
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._busy_of(
  p_answer text[], p_target bigint[], p_step int[], p_pos int[], p_queue text[], p_partition text[], p_tx text[], p_payload text[],
  p_trace text[], p_sub text[], p_id uuid[], out step int[], out pos int[], out queue text[], out partition text[], out tx text[],
  out payload text[], out trace text[], out sub text[], out id uuid[])
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if array_position(p_target, null) is null then
    return;
  end if;
  select array_agg(i.step order by i.ord), array_agg(i.pos order by i.ord), array_agg(i.queue order by i.ord),
         array_agg(i.partition order by i.ord), array_agg(i.tx order by i.ord), array_agg(i.payload order by i.ord),
         array_agg(i.trace order by i.ord), array_agg(i.sub order by i.ord), array_agg(i.id order by i.ord)
    into step, pos, queue, partition, tx, payload, trace, sub, id
    from (select *, row_number() over (partition by u.step, u.queue, u.partition, coalesce(u.tx, u.id::text) order by u.ord) as nth
            from unnest(p_target, p_step, p_pos, p_queue, p_partition, p_tx, p_payload, p_trace, p_sub, p_id)
                 with ordinality u(target, step, pos, queue, partition, tx, payload, trace, sub, id, ord)) i
   where i.target is null and i.nth = 1 and p_answer[i.step] is null;
end
$$;
