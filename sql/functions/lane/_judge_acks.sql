-- purpose: judges the acks of one call on one lane under its lock: which offset each names, and whether it may be carried out
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: message_tx_hash
-- Verdict: null = carry out, 'noop' = below the cursor and completed, 'again' = the same ack that released this lease before,
-- any other text = refused with that text.
create or replace function lockstep._judge_acks(
  p_queue queue, p_lane lane, p_lease_id text[], p_transaction_id text[], p_offset bigint[], p_status text[], p_now timestamptz)
returns table (nth int, message_offset bigint, verdict text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_live boolean := p_lane.lease_id is not null and p_lane.lease_expires_at > p_now;
  v_head bigint;
  v_again boolean;
begin
  select p.next_offset into v_head from partition p where p.queue_id = p_queue.id and p.id = p_lane.partition_id;
  v_again := p_lane.released_lease is not null and p_lane.released_lease = all (p_lease_id)
    and p_lane.released_digest = lockstep._ack_digest(p_transaction_id, p_offset, p_status);
  return query
  select i.ord::int, r.at,
         case when i.lease is not null and not coalesce(v_live and p_lane.lease_id = i.lease, false)
                then case when v_again and r.at is not null then 'again' else 'invalid or expired lease' end
              when i.lease is null and p_queue.require_lease then 'this queue takes acks with a lease only'
              when r.at is null or r.at >= v_head or (i.lease is not null and r.at >= p_lane.batch_end)
                then 'transaction is unresolvable, already committed, or acknowledgment is stale'
              when r.at < p_lane.committed
                then case when i.status = 'completed' then 'noop'
                          else 'transaction is unresolvable, already committed, or acknowledgment is stale' end
         end
    from unnest(p_lease_id, p_transaction_id, p_offset, p_status) with ordinality i(lease, tx, at, status, ord)
    left join lateral (
      -- An id may stand twice, outside the window: inside the leased batch first, then above the cursor.
      select m."offset" from message m
       where m.queue_id = p_queue.id and m.partition_id = p_lane.partition_id and m.tx_hash = lockstep.tx_hash(i.tx)
         and m.transaction_id = i.tx
       order by m."offset" >= p_lane.committed and m."offset" < p_lane.batch_end desc nulls last,
                m."offset" >= p_lane.committed desc, m."offset"
       limit 1) m on i.at is null
   cross join lateral (select coalesce(i.at, m."offset") as at) r;
end
$$;
