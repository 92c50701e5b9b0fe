-- purpose: from a message that leaves the lane for the dead letters upward: which neighbours named in the same call go with
--   it, where the cursor comes to stand, and the reason to write down
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
-- The walk passes completed and implicitly covered messages and stops at a retry, at a failed one that still has budget, or
-- at a message the call does not cover.
create or replace function lockstep._walk_exhausted(
  p_offset bigint[], p_status text[], p_error text[], p_head bigint, p_top bigint, p_exhausted boolean,
  out dead bigint[], out past bigint, out keeps_budget boolean, out reason text)
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_status text;
begin
  dead := array[p_head];
  past := p_head + 1;
  keeps_budget := false;
  loop
    v_status := null;
    select i.status into v_status from unnest(p_offset, p_status) i(at, status)
     where i.at = past order by array_position(array['dlq', 'failed', 'retry', 'completed'], i.status) limit 1;
    if v_status = 'dlq' or (v_status = 'failed' and p_exhausted) then
      dead := dead || past;
    elsif v_status = 'failed' then
      keeps_budget := true;
      exit;
    elsif v_status = 'retry' or (v_status is null and past > coalesce(p_top, -1)) then
      exit;
    end if;
    past := past + 1;
  end loop;
  select coalesce(
      (select i.error from unnest(p_offset, p_error) i(at, error) where i.at = p_head and i.error is not null limit 1),
      (select i.error from unnest(p_error) with ordinality i(error, ord) where i.error is not null order by i.ord limit 1),
      'Retries exhausted') into reason;
end
$$;
