-- purpose: for acks of conflating groups, aligned with them: how many older messages the completed one stood for; null for others
-- locks in order: none beyond the lanes that the caller holds
-- raises: nothing
-- idempotent how: reads only; the lane keeps it until the next delivery
-- index used: consumer_group_pkey, lane_pkey
create or replace function lockstep._conflated(
  p_queue_id int[], p_partition_id bigint[], p_group_id int[], p_at bigint[], p_status text[]) returns bigint[]
language sql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select array_agg(case when g.conflation and i.status = 'completed' then l.conflated_at - l.conflated_from end order by i.ord)
    from unnest(p_queue_id, p_partition_id, p_group_id, p_at, p_status) with ordinality i(queue_id, partition_id, group_id, at, status, ord)
    left join consumer_group g on g.queue_id = i.queue_id and g.id = i.group_id
    left join lane l on l.queue_id = i.queue_id and l.group_id = i.group_id and l.partition_id = i.partition_id and l.conflated_at = i.at
$$;
