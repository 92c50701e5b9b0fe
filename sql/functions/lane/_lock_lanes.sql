-- purpose: locks the lanes that acks name, in the one order, making those that a group's unfinished backfill has not made yet
-- locks in order: lane (queue, partition, group)
-- raises: nothing
-- idempotent how: locks only; a lane that exists stays
-- index used: consumer_group_name_once, lane_pkey
create or replace function lockstep._lock_lanes(p_queue_id int[], p_partition_id bigint[], p_group text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_partitions bigint[];
  v_groups int[];
  v_unfinished boolean;
  v_crossed boolean;
  v_now timestamptz;
begin
  foreach v_queue_id in array array(select distinct u from unnest(p_queue_id) u order by u) loop
    select array_agg(n.partition_id), array_agg(n.group_id), bool_or(n.unfinished) into v_partitions, v_groups, v_unfinished
      from (select d.partition_id, g.id as group_id, g.backfill_until is not null as unfinished
              from (select distinct i.partition_id, i.grp
                      from unnest(p_queue_id, p_partition_id, p_group) i(queue_id, partition_id, grp)
                     where i.queue_id = v_queue_id) d
             cross join lateral (
                select g.id, g.backfill_until from consumer_group g where g.queue_id = v_queue_id and g.name = d.grp limit 1) g) n;
    continue when v_groups is null;
    if v_unfinished then
      v_now := lockstep.clock();
      insert into lane (queue_id, group_id, partition_id, available_at)
        select v_queue_id, n.group_id, n.partition_id, v_now
          from unnest(v_partitions, v_groups) n(partition_id, group_id)
          join partition p on p.queue_id = v_queue_id and p.id = n.partition_id
         order by n.partition_id, n.group_id
        on conflict do nothing;
    end if;
    -- Of several groups only the lanes that are named: whoever pops another one must find it free.
    v_crossed := v_groups[1] <> any (v_groups);
    perform 1 from lane l
      where l.queue_id = v_queue_id and l.group_id = any (v_groups) and l.partition_id = any (v_partitions)
        and (not v_crossed or (l.group_id, l.partition_id) in (select n.g, n.p from unnest(v_groups, v_partitions) n(g, p)))
      order by l.partition_id, l.group_id
        for no key update;
  end loop;
end
$$;
