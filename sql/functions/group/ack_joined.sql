-- purpose: settles messages for groups: joined acks of several calls, each call judged by itself on each lane it names
-- locks in order: lane (queue, partition, group), then partition (SKIP LOCKED) to clear drained lanes
-- raises: LS425 isolation_not_supported
-- idempotent how: the same call sent again after it released its lease is answered as the first time
-- index used: consumer_group_name_once, lane_pkey, message_tx_hash
create or replace function lockstep.ack_joined(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_error text[])
returns table (ord int, success boolean, error text, lease_released boolean, dlq boolean, noop boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz;
  v_group_id int[];
  v_at bigint[];
  v_verdict text[];
  v_again int[] := '{}';
  v_again_dlq boolean[] := '{}';
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_lanes(p_queue_id, p_partition_id, p_group);
  v_now := lockstep.clock();
  select array_agg(j.group_id order by j.nth), array_agg(j.message_offset order by j.nth), array_agg(j.verdict order by j.nth)
    into v_group_id, v_at, v_verdict
    from lockstep._judge_acks(p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, p_offset, p_status, v_now) j;
  if 'invalid or expired lease' = any (v_verdict) then
    select coalesce(array_agg(a.nth), '{}'), coalesce(array_agg(a.dlq), '{}') into v_again, v_again_dlq
      from lockstep._recognise_again(p_call, p_queue_id, p_partition_id, p_group, v_group_id, p_lease_id, p_transaction_id,
                                     p_offset, p_status, v_at) a;
  end if;
  return query
    select i.ord::int,
           i.verdict is null or i.verdict = 'noop' or i.ord = any (v_again),
           case when i.verdict <> 'noop' and i.ord <> all (v_again) then i.verdict end,
           coalesce(s.released, i.ord = any (v_again)),
           coalesce(s.dlq, v_again_dlq[array_position(v_again, i.ord::int)], false),
           coalesce(i.verdict = 'noop', false)
      from unnest(v_verdict) with ordinality i(verdict, ord)
      left join lockstep._settle_all(p_call, p_queue_id, p_partition_id, p_group, v_group_id, p_lease_id, p_transaction_id,
                                     p_offset, p_status, p_error, v_at, v_verdict, v_now, true) s on s.nth = i.ord;
end
$$;
