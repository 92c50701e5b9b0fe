-- purpose: finds the acks that say again what released their lease before: a client that lost the answer and retries
-- locks in order: none beyond the lanes that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: lane_pkey, dead_letter_message
create or replace function lockstep._recognise_again(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group text[], p_group_id int[], p_lease_id text[],
  p_transaction_id text[], p_offset bigint[], p_status text[], p_at bigint[])
returns table (nth int, dlq boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
  with item as (
    select * from unnest(p_call, p_queue_id, p_partition_id, p_group, p_group_id, p_lease_id, p_transaction_id, p_offset, p_status, p_at)
      with ordinality i(call, queue_id, partition_id, grp, group_id, lease, tx, named, status, at, ord)
  ), said as (
    select i.call, i.queue_id, i.partition_id, i.group_id, min(i.lease) as lease, count(distinct i.lease) as leases,
           md5(string_agg(coalesce(i.tx, i.named::text) || ':' || i.status, ',' order by i.ord)) as digest
      from item i group by 1, 2, 3, 4
  )
  select i.ord::int, exists (
           select 1 from message m
             join dead_letter d on d.queue_id = m.queue_id and d.partition_id = m.partition_id and d.tx_hash = m.tx_hash
                  and d."offset" = m."offset" and d.group_name = i.grp
            where m.queue_id = i.queue_id and m.partition_id = i.partition_id and m."offset" = i.at)
    from said s
    join lane l on l.queue_id = s.queue_id and l.group_id = s.group_id and l.partition_id = s.partition_id
    join item i on i.call = s.call and i.queue_id = s.queue_id and i.partition_id = s.partition_id and i.group_id = s.group_id
   where s.leases = 1 and l.released_lease = s.lease and l.released_digest = s.digest and i.at is not null;
end
$$;
