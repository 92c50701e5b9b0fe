-- purpose: removes lanes whose group is gone (deleted, or moved by a seek and so renewed under another id), at most 5,000 of
--   the next queue by id after p_after; null queue: there is no later one
-- locks in order: lane (partition, group), SKIP LOCKED
-- raises: nothing
-- idempotent how: such a lane is out of everybody's reach; one that a verb still holds goes the next time
-- index used: queue_pkey, lane_pkey, consumer_group_pkey
create or replace function lockstep.remove_lanes(p_after int, out queue_id int, out removed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_id int;
  v_group int;
  v_ids bigint[];
begin
  removed := 0;
  select q.id into v_id from queue q where q.id > p_after and q.deleted_at is null order by q.id limit 1;
  queue_id := v_id;
  if v_id is null then
    return;
  end if;
  -- From group to group by the primary key: one look per group, not per lane. Lanes and groups are seen at one instant.
  with recursive present(id) as (
    (select l.group_id from lane l where l.queue_id = v_id order by l.group_id limit 1)
    union all
    select (select l.group_id from lane l where l.queue_id = v_id and l.group_id > present.id order by l.group_id limit 1)
      from present where present.id is not null
  )
  select min(present.id) into v_group from present
   where present.id is not null
     and not exists (select 1 from consumer_group g where g.queue_id = v_id and g.id = present.id);
  if v_group is null then
    return;
  end if;
  v_ids := array(
    select l.partition_id from lane l where l.queue_id = v_id and l.group_id = v_group
     order by l.partition_id limit 5000 for no key update skip locked);
  delete from lane l where l.queue_id = v_id and l.group_id = v_group and l.partition_id = any (v_ids);
  get diagnostics removed = row_count;
end
$$;
