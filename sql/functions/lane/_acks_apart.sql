-- purpose: the calls of joined acks that must be carried out one after the other: they share a lane with another call, and one
--   of those fails, retries or buries something there
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
-- Calls that only complete a lane may be merged: whatever their order, the cursor ends past the highest. A failure ends the
-- lease, so what another call says after it is refused, and what it says at once would pass over the failed message.
create or replace function lockstep._acks_apart(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_status text[]) returns int[]
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_call[1] = all (p_call) or 'completed' = all (p_status) then
    return '{}';
  end if;
  return array(
    select distinct i.call
      from (select u.call, min(u.call) over lane <> max(u.call) over lane and bool_or(u.status <> 'completed') over lane as mixed
              from unnest(p_call, p_queue_id, p_partition_id, p_group, p_status) u(call, queue_id, partition_id, grp, status)
            window lane as (partition by u.queue_id, u.partition_id, u.grp)) i
     where i.mixed);
end
$$;
