-- purpose: settles messages for groups: joined acks of several calls, each call judged by itself on each lane it names
-- locks in order: lane (partition, group), then partition (SKIP LOCKED) to clear drained lanes
-- raises: LS425 isolation_not_supported
-- idempotent how: the same call sent again after it released its lease is answered as the first time
-- index used: consumer_group_name_once, lane_pkey, message_tx_hash
create or replace function lockstep.ack_joined(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_error text[])
returns table (ord int, success boolean, error text, lease_released boolean, dlq boolean, noop boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_set record;
  v_queue queue;
  v_lane lane;
  v_settled record;
  v_offsets bigint[];
  v_verdicts text[];
begin
  perform lockstep._demand_read_committed();
  perform lockstep._lock_lanes(p_queue_id, p_partition_id, p_group);
  v_now := lockstep.clock();
  for v_set in
    select i.call, i.queue_id, i.partition_id, i.grp, array_agg(i.ord::int order by i.ord) as ords,
           array_agg(i.lease order by i.ord) as leases, array_agg(i.tx order by i.ord) as txs,
           array_agg(i.at order by i.ord) as ats, array_agg(i.status order by i.ord) as statuses,
           array_agg(i.error order by i.ord) as errors
      from unnest(p_call, p_queue_id, p_partition_id, p_group, p_lease_id, p_transaction_id, p_offset, p_status, p_error)
           with ordinality i(call, queue_id, partition_id, grp, lease, tx, at, status, error, ord)
     group by 1, 2, 3, 4
     order by 1, 2, 3, 4
  loop
    select * into v_queue from queue q where q.id = v_set.queue_id and q.deleted_at is null;
    v_lane := lockstep._lane(v_set.queue_id, v_set.partition_id, v_set.grp);
    if v_lane.group_id is null then
      return query
        select o, false, case when v_lane.partition_id is null then 'no partition ' || v_set.queue_id
                 || lpad(v_set.partition_id::text, 12, '0') else 'consumer not found' end, false, false, false
          from unnest(v_set.ords) o;
      continue;
    end if;
    select array_agg(j.message_offset order by j.nth), array_agg(j.verdict order by j.nth) into v_offsets, v_verdicts
      from lockstep._judge_acks(v_queue, v_lane, v_set.leases, v_set.txs, v_set.ats, v_set.statuses, v_now) j;
    v_settled := null;
    if array_position(v_verdicts, null) is not null then
      select s.* into v_settled
        from (select array_agg(i.at) as ats, array_agg(i.status) as statuses, array_agg(i.error) as errors
                from unnest(v_offsets, v_verdicts, v_set.statuses, v_set.errors) i(at, verdict, status, error)
               where i.verdict is null) u
       cross join lateral lockstep._settle(v_queue, v_set.grp, v_lane, u.ats, u.statuses, u.errors, v_set.leases[1],
               lockstep._ack_digest(v_set.txs, v_set.ats, v_set.statuses), v_now, true) s;
    end if;
    return query
      select i.ord, coalesce(i.verdict in ('noop', 'again'), true),
             case when i.verdict not in ('noop', 'again') then i.verdict end,
             case when i.verdict is null then v_settled.released else coalesce(i.verdict = 'again', false) end,
             case when i.verdict is null then i.at = any (v_settled.buried)
                  else coalesce(i.verdict = 'again', false) and exists (
                    select 1 from dead_letter d join message m
                      on m.queue_id = d.queue_id and m.partition_id = d.partition_id and m."offset" = d."offset"
                     where d.queue_id = v_set.queue_id and d.partition_id = v_set.partition_id and d.tx_hash = m.tx_hash
                       and m."offset" = i.at and d.group_name = v_set.grp) end,
             coalesce(i.verdict = 'noop', false)
        from unnest(v_set.ords, v_offsets, v_verdicts) i(ord, at, verdict);
  end loop;
end
$$;
