-- purpose: moves the cursor of a conflating group's lane to the newest message that may be delivered, and remembers what it skips
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: pure; the caller writes the lane
-- index used: none
-- A message that was delivered and is not settled is skipped like any other once a newer one is there; failures and lapses
-- were counted for it and go with it.
create or replace function lockstep._conflate(p_lane lane, p_head bigint) returns lockstep.lane
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_lane lane := p_lane;
begin
  v_lane.conflated_from := case when p_lane.conflated_at = p_lane.committed then p_lane.conflated_from else p_lane.committed end;
  v_lane.conflated_at := p_head - 1;
  v_lane.committed := p_head - 1;
  if v_lane.committed > p_lane.committed then
    v_lane.failures := 0;
    v_lane.crashes := 0;
  end if;
  return v_lane;
end
$$;
