-- purpose: settles messages for groups: joined acks of several calls, each call judged by itself on each lane it names
-- locks in order: lane (queue, partition, group), then partition (SKIP LOCKED) to clear drained lanes
-- raises: LS425 isolation_not_supported
-- idempotent how: the same call sent again after it released its lease is answered as the first time
-- index used: consumer_group_name_once, consumer_group_conflation, lane_pkey, message_tx_hash
-- conflated: of a completed message of a conflating group, how many older ones it stood for; else null.
create or replace function lockstep.ack_joined(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_error text[])
returns table (ord int, success boolean, error text, lease_released boolean, dlq boolean, noop boolean, conflated bigint)
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
  v_conflated bigint[];
  v_apart int[];
  v_part record;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_lanes(p_queue_id, p_partition_id, p_group);
  v_apart := lockstep._acks_apart(p_call, p_queue_id, p_partition_id, p_group, p_status);
  if cardinality(v_apart) > 0 then
    -- Under the same locks: the others side by side, then those one after the other.
    for v_part in
      select array_agg(i.ord::int order by i.ord) as ords, array_agg(i.call order by i.ord) as calls,
             array_agg(i.queue_id order by i.ord) as queues, array_agg(i.partition_id order by i.ord) as partitions,
             array_agg(i.grp order by i.ord) as grps, array_agg(i.lease order by i.ord) as leases,
             array_agg(i.tx order by i.ord) as txs, array_agg(i.at order by i.ord) as ats,
             array_agg(i.status order by i.ord) as statuses, array_agg(i.error order by i.ord) as errors
        from unnest(p_call, p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, p_offset, p_status, p_error)
             with ordinality i(call, queue_id, partition_id, grp, lease, tx, at, status, error, ord)
       group by case when i.call = any (v_apart) then i.call end
       order by case when i.call = any (v_apart) then i.call end nulls first
    loop
      return query
        select v_part.ords[a.ord], a.success, a.error, a.lease_released, a.dlq, a.noop, a.conflated
          from lockstep.ack_joined(v_part.calls, v_part.queues, v_part.partitions, v_part.grps, v_part.leases, v_part.txs,
                                   v_part.ats, v_part.statuses, v_part.errors) a;
    end loop;
    return;
  end if;
  v_now := lockstep.clock();
  select array_agg(j.group_id order by j.nth), array_agg(j.message_offset order by j.nth), array_agg(j.verdict order by j.nth)
    into v_group_id, v_at, v_verdict
    from lockstep._judge_acks(p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, p_offset, p_status, v_now) j;
  if 'invalid or expired lease' = any (v_verdict) then
    select coalesce(array_agg(a.nth), '{}'), coalesce(array_agg(a.dlq), '{}') into v_again, v_again_dlq
      from lockstep._recognise_again(p_call, p_queue_id, p_partition_id, p_group, v_group_id, p_lease_id, p_transaction_id,
                                     p_offset, p_status, v_at) a;
  end if;
  if exists (select 1 from consumer_group g where g.queue_id = any (p_queue_id) and g.id = any (v_group_id) and g.conflation) then
    v_conflated := lockstep._conflated(p_queue_id, p_partition_id, v_group_id, v_at, p_status);
  end if;
  return query
    select i.ord::int,
           i.verdict is null or i.verdict = 'noop' or i.ord = any (v_again),
           case when i.verdict <> 'noop' and i.ord <> all (v_again) then i.verdict end,
           coalesce(s.released, i.ord = any (v_again)),
           coalesce(s.dlq, v_again_dlq[array_position(v_again, i.ord::int)], false),
           coalesce(i.verdict = 'noop', false),
           case when i.verdict is null or i.ord = any (v_again) then v_conflated[i.ord] end
      from unnest(v_verdict) with ordinality i(verdict, ord)
      left join lockstep._settle_all(p_call, p_queue_id, p_partition_id, p_group, v_group_id, p_lease_id, p_transaction_id,
                                     p_offset, p_status, p_error, v_at, v_verdict, v_now, true) s on s.nth = i.ord;
end
$$;
