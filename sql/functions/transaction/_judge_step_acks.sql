-- purpose: judges the acks of steps: one that cannot be carried out refuses its whole step
-- locks in order: none beyond the lanes that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: see _judge_acks; lane_pkey
-- p_own false: inside a user's open transaction an ack must carry its lease, else it could hold a drained lane to his commit.
create or replace function lockstep._judge_step_acks(
  p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[], p_offset bigint[],
  p_status text[], p_own boolean, p_now timestamptz, out group_id int[], out at bigint[], out verdict text[], out loss text[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  select array_agg(j.group_id order by j.nth), array_agg(j.message_offset order by j.nth), array_agg(j.verdict order by j.nth),
         array_agg(case when not p_own and i.lease is null then 'an ack inside an open transaction needs its lease'
                        when j.verdict = 'noop' and i.lease is not null and not exists (
                          -- The empty batch of a stream's claim, acked by who holds it: there is nothing to carry out.
                          select 1 from lane l
                           where l.queue_id = i.queue_id and l.group_id = j.group_id and l.partition_id = i.partition_id
                             and l.batch_end = l.committed and j.message_offset = l.committed - 1) then 'already committed'
                        when j.verdict <> 'noop' then j.verdict end order by j.nth)
    into group_id, at, verdict, loss
    from lockstep._judge_acks(p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, p_offset, p_status, p_now) j
    join unnest(p_lease_id, p_queue_id, p_partition_id) with ordinality i(lease, queue_id, partition_id, ord) on i.ord = j.nth;
end
$$;
