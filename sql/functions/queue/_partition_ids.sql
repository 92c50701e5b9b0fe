-- purpose: the partition ids of items named by queue and partition, aligned with the items; null where there is none
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: partition_name_once
create or replace function lockstep._partition_ids(p_queue text[], p_partition text[], p_names text[], p_ids int[]) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_partitions bigint[];
begin
  if cardinality(p_queue) > 1 and cardinality(p_names) = 1 and p_partition[1] = all (p_partition) then
    return array_fill((select p.id from partition p where p.queue_id = p_ids[1] and p.name = p_partition[1]),
      array[cardinality(p_queue)]);
  end if;
  select array_agg(
           (select p.id from partition p where p.queue_id = p_ids[array_position(p_names, i.queue)] and p.name = i.partition)
           order by i.ord)
    into v_partitions
    from unnest(p_queue, p_partition) with ordinality i(queue, partition, ord);
  return v_partitions;
end
$$;
