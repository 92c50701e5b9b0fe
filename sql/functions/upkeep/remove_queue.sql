-- purpose: one bounded step in removing the queue that was deleted first: its log, lanes, dead letters, stream state, groups,
--   then its row
-- locks in order: queue, partition, lane, dead letter, stream state, each with SKIP LOCKED
-- raises: nothing
-- idempotent how: takes what is there; null: no deleted queue is left, or others are at them; 0: somebody holds the rest
-- index used: queue_deleted, partition_pkey, message_pkey, lane_pkey, dead_letter_pkey, stream_state_pkey, consumer_group_pkey
-- A partition goes under its lock and only when its log is empty: a push that was under way is never left behind. Without
-- partitions no lane is made, without lanes no dead letter, and a group only on a live queue: so each class ends for good.
create or replace function lockstep.remove_queue() returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_limit constant int := 5000;
  v_id int;
  v_ids bigint[];
  v_removed int;
  v_query int;
  v_last record;
begin
  select q.id into v_id from queue q where q.deleted_at is not null
   order by q.deleted_at limit 1 for no key update skip locked;
  if not found then
    return null;
  end if;

  v_ids := array(
    select p.id from partition p where p.queue_id = v_id order by p.id limit 500 for no key update skip locked);
  if cardinality(v_ids) > 0 then
    with doomed as materialized (
      select p.id, m."offset"
        from unnest(v_ids) i(id)
        join partition p on p.queue_id = v_id and p.id = i.id
       cross join lateral (
         select k."offset" from message k
          where k.queue_id = v_id and k.partition_id = p.id and k."offset" >= p.log_start
          order by k."offset" limit v_limit) m
       limit v_limit
    ), gone as (
      delete from message m using doomed d
       where m.queue_id = v_id and m.partition_id = d.id and m."offset" = d."offset"
      returning m.partition_id, m."offset"
    )
    select count(*) as n, max(g.partition_id) as id,
           max(g."offset") filter (where g.partition_id = (select max(d.id) from doomed d)) as "offset"
      into v_last from gone g;
    if v_last.n = v_limit then
      -- More may be left in the last one: the next step begins behind what is gone.
      update partition p set log_start = v_last."offset" + 1 where p.queue_id = v_id and p.id = v_last.id;
      v_ids := array(select i from unnest(v_ids) i where i < v_last.id);
    end if;
    delete from partition p where p.queue_id = v_id and p.id = any (v_ids);
    return v_last.n + cardinality(v_ids);
  end if;
  if exists (select 1 from partition p where p.queue_id = v_id) then
    return 0;
  end if;

  -- Whoever holds one of these may hold others too: nothing here waits, so nobody waits in a circle.
  delete from lane l
   using (select k.group_id, k.partition_id from lane k where k.queue_id = v_id
           order by k.group_id, k.partition_id limit v_limit for no key update skip locked) d
   where l.queue_id = v_id and l.group_id = d.group_id and l.partition_id = d.partition_id;
  get diagnostics v_removed = row_count;
  if v_removed > 0 or exists (select 1 from lane l where l.queue_id = v_id) then
    return v_removed;
  end if;
  delete from dead_letter l
   using (select k.id from dead_letter k where k.queue_id = v_id
           order by k.id limit v_limit for no key update skip locked) d
   where l.queue_id = v_id and l.id = d.id;
  get diagnostics v_removed = row_count;
  if v_removed > 0 or exists (select 1 from dead_letter l where l.queue_id = v_id) then
    return v_removed;
  end if;
  for v_query in select s.id from stream_query s order by s.id loop
    delete from stream_state s
     using (select k.partition_id, k.key from stream_state k where k.query_id = v_query and k.queue_id = v_id
             order by k.partition_id, k.key limit v_limit for no key update skip locked) d
     where s.query_id = v_query and s.queue_id = v_id and s.partition_id = d.partition_id and s.key = d.key;
    get diagnostics v_removed = row_count;
    if v_removed > 0 or exists (select 1 from stream_state s where s.query_id = v_query and s.queue_id = v_id) then
      return v_removed;
    end if;
  end loop;
  delete from consumer_group g where g.queue_id = v_id;
  delete from queue q where q.id = v_id;
  return 1;
end
$$;
