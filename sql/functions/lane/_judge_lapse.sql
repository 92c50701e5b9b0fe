-- purpose: what a lapsed lease costs: a crash, from the second one messages one at a time, past the limit the head is buried
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: the caller writes the returned lane in the same statement order, under the lane's lock
-- index used: message_pkey
-- A batch of several is narrowed before anything of it is buried, so that one message that kills its worker cannot
-- spend its neighbours' budget.
create or replace function lockstep._judge_lapse(p_queue queue, p_group_name text, p_lane lane, p_now timestamptz) returns lockstep.lane
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_lane lane := p_lane;
  v_wide boolean := p_lane.batch_end - p_lane.committed > 1;
begin
  v_lane.lease_id := null;
  v_lane.lease_expires_at := null;
  v_lane.batch_end := null;
  if p_lane.batch_end = p_lane.committed then
    -- An empty batch, a stream's claim: no message was worked on.
    return v_lane;
  end if;
  v_lane.crashes := p_lane.crashes + 1;
  if v_lane.crashes > p_queue.crash_limit and not v_wide then
    perform lockstep._bury(p_queue, p_group_name, p_lane.partition_id, array[p_lane.committed], 'crashed',
      array['lease lapsed ' || v_lane.crashes || ' times: no worker finished this message'], v_lane.failures, v_lane.crashes, p_now);
    v_lane.committed := p_lane.committed + 1;
    v_lane.crashes := 0;
    v_lane.failures := 0;
  elsif v_lane.crashes > p_queue.crash_limit then
    v_lane.crashes := p_queue.crash_limit;
  end if;
  if v_wide and p_lane.crashes + 1 >= least(2, greatest(p_queue.crash_limit, 1)) then
    v_lane.narrow_until := greatest(p_lane.narrow_until, p_lane.batch_end);
  end if;
  return v_lane;
end
$$;
