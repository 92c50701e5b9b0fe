-- purpose: cuts the parallel arrays of a push into one set per queue, in queue order, and one set of the items to be staged
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._slices(
  p_queue text[], p_partition text[], p_partition_id bigint[], p_busy bigint[], p_tx text[], p_payload text[], p_trace text[],
  p_sub text[], p_id uuid[])
returns table (is_busy boolean, queue text, ords int[], queues text[], partitions text[], partition_ids bigint[], txs text[],
               payloads text[], traces text[], subs text[], ids uuid[])
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  return query
  select b.busy, q.name, array_agg(i.ord::int order by i.ord), array_agg(i.queue order by i.ord),
         array_agg(i.partition order by i.ord), array_agg(i.partition_id order by i.ord), array_agg(i.tx order by i.ord),
         array_agg(i.payload order by i.ord), array_agg(i.trace order by i.ord), array_agg(i.sub order by i.ord),
         array_agg(i.id order by i.ord)
    from unnest(p_queue, p_partition, p_partition_id, p_tx, p_payload, p_trace, p_sub, p_id)
         with ordinality i(queue, partition, partition_id, tx, payload, trace, sub, id, ord)
   cross join lateral (select coalesce(i.partition_id = any (p_busy), true) as busy) b
   cross join lateral (select case when not b.busy then i.queue end collate "C" as name) q
   group by b.busy, q.name
   order by b.busy, q.name;
end
$$;
