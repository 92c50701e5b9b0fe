-- purpose: from a message that leaves the lane for the dead letters upward: which neighbours named in the same call go with
--   it, each with the reason to write down, and where the cursor comes to stand
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
-- The walk passes completed and implicitly covered messages and stops at a retry, at a failed one that still has budget, or
-- at a message the call does not cover. A message without an error of its own gets the first one of the call.
create or replace function lockstep._walk_exhausted(
  p_offset bigint[], p_status text[], p_error text[], p_head bigint, p_top bigint, p_exhausted boolean,
  out dead bigint[], out reasons text[], out past bigint, out keeps_budget boolean)
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_at bigint[];
  v_status text[];
  v_reason text[];
  v_any text;
  v_next int := 2;
  v_verdict text;
begin
  -- Of several acks of one message the hardest counts.
  select array_agg(w.at order by w.at), array_agg(w.status order by w.at), array_agg(w.error order by w.at)
    into v_at, v_status, v_reason
    from (select i.at, (array_agg(i.status order by array_position(array['dlq', 'failed', 'retry', 'completed'], i.status)))[1] as status,
                 (array_agg(i.error order by i.ord) filter (where i.error is not null))[1] as error
            from unnest(p_offset, p_status, p_error) with ordinality i(at, status, error, ord)
           where i.at >= p_head
           group by i.at) w;
  select coalesce((array_agg(i.error order by i.ord) filter (where i.error is not null))[1], 'Retries exhausted') into v_any
    from unnest(p_error) with ordinality i(error, ord);
  dead := array[p_head];
  reasons := array[coalesce(v_reason[1], v_any)];
  past := p_head + 1;
  keeps_budget := false;
  loop
    v_verdict := case when v_at[v_next] = past then v_status[v_next] end;
    if v_verdict = 'dlq' or (v_verdict = 'failed' and p_exhausted) then
      dead := dead || past;
      reasons := reasons || coalesce(v_reason[v_next], v_any);
    elsif v_verdict = 'failed' then
      keeps_budget := true;
      exit;
    elsif v_verdict = 'retry' or (v_verdict is null and past > coalesce(p_top, -1)) then
      exit;
    end if;
    if v_verdict is not null then
      v_next := v_next + 1;
    end if;
    past := past + 1;
  end loop;
end
$$;
