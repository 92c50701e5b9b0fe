-- purpose: the offsets that transaction ids have inside a leased batch, aligned with the ids; null where the batch has no such id
-- locks in order: none beyond the lane that the caller holds
-- raises: nothing
-- idempotent how: reads only
-- index used: message_pkey
-- A worker mostly acks its whole batch in order: then one comparison of arrays answers for all.
create or replace function lockstep._offsets_in_batch(
  p_queue_id int, p_partition_id bigint, p_first bigint, p_past bigint, p_transaction_id text[]) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_bitmapscan = off set enable_nestloop = off set enable_mergejoin = off
as $$
declare
  v_batch text[];
  v_offsets bigint[];
begin
  v_batch := array(
    select m.transaction_id from message m
     where m.queue_id = p_queue_id and m.partition_id = p_partition_id and m."offset" >= p_first and m."offset" < p_past
     order by m."offset");
  if v_batch = p_transaction_id then
    return array(select generate_series(p_first, p_past - 1));
  end if;
  select array_agg(b.at order by i.ord) into v_offsets
    from unnest(p_transaction_id) with ordinality i(tx, ord)
    left join (select u.tx, min(p_first + u.n - 1) as at from unnest(v_batch) with ordinality u(tx, n) group by 1) b on b.tx = i.tx;
  return v_offsets;
end
$$;
