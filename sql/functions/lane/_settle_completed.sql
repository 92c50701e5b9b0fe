-- purpose: carries out judged acks of lanes on which only completed ones came: the cursor moves past the highest
-- locks in order: partition, by SKIP LOCKED only, to clear drained lanes
-- raises: nothing
-- idempotent how: the caller holds the lanes; a cursor only moves forward
-- index used: lane_pkey, partition_pkey
create or replace function lockstep._settle_completed(
  p_call int[], p_queue_id int[], p_partition_id bigint[], p_group_id int[], p_lease_id text[], p_transaction_id text[],
  p_offset bigint[], p_status text[], p_at bigint[], p_verdict text[], p_now timestamptz, p_clear boolean)
returns table (nth int, released boolean, dlq boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_queue_id int[];
  v_group_id int[];
  v_partition_id bigint[];
  v_cursor bigint[];
  v_lease text[];
  v_digest text[];
  v_ords int[];
  v_lane int[];
  v_held bigint[] := '{}';
  v_released boolean[];
begin
  -- One line per lane; v_ords and v_lane tell which item went to which line.
  with item as (
    select * from unnest(p_call, p_queue_id, p_partition_id, p_group_id, p_lease_id, p_transaction_id, p_offset, p_status, p_at, p_verdict)
      with ordinality i(call, queue_id, partition_id, group_id, lease, tx, named, status, at, verdict, ord)
     where i.verdict is null
  ), line as (
    select i.queue_id, i.group_id, i.partition_id, max(i.at) + 1 as cursor, min(i.lease) as lease, array_agg(i.ord::int) as ords,
           md5(string_agg(coalesce(i.tx, i.named::text) || ':' || i.status, ',' order by i.ord)) as digest,
           row_number() over (order by i.queue_id, i.partition_id, i.group_id)::int as n
      from item i group by 1, 2, 3
    having bool_and(i.status = 'completed')
  )
  select array_agg(l.queue_id order by l.n), array_agg(l.group_id order by l.n), array_agg(l.partition_id order by l.n),
         array_agg(l.cursor order by l.n), array_agg(l.lease order by l.n), array_agg(l.digest order by l.n),
         (select array_agg(o order by m.n, o) from line m cross join unnest(m.ords) o),
         (select array_agg(m.n order by m.n, o) from line m cross join unnest(m.ords) o)
    into v_queue_id, v_group_id, v_partition_id, v_cursor, v_lease, v_digest, v_ords, v_lane
    from line l;
  if v_queue_id is null then
    return;
  end if;
  if p_clear then
    v_held := array(
      select p.id from unnest(v_queue_id, v_partition_id, v_cursor) i(queue_id, partition_id, cursor)
        join partition p on p.queue_id = i.queue_id and p.id = i.partition_id
       where p.next_offset <= i.cursor
         for no key update of p skip locked);
  end if;
  -- In a later statement than the partitions' locks: a push that committed before them is seen.
  with moved as (
    update lane l
       set committed = i.cursor, failures = 0, crashes = 0, backoff_until = null,
           narrow_until = case when l.narrow_until > i.cursor then l.narrow_until end,
           available_at = case when not r.released then l.available_at
                               when p.id = any (v_held) and p.next_offset <= i.cursor then null
                               else p_now end,
           batch_end = case when not r.released then l.batch_end end,
           lease_id = case when not r.released then l.lease_id end,
           lease_expires_at = case when not r.released then l.lease_expires_at end,
           released_lease = case when r.released and i.lease is not null then i.lease else l.released_lease end,
           released_digest = case when r.released and i.lease is not null then i.digest else l.released_digest end
      from unnest(v_queue_id, v_group_id, v_partition_id, v_cursor, v_lease, v_digest)
           with ordinality i(queue_id, group_id, partition_id, cursor, lease, digest, n)
      join lane o on o.queue_id = i.queue_id and o.group_id = i.group_id and o.partition_id = i.partition_id
      join partition p on p.queue_id = i.queue_id and p.id = i.partition_id
     cross join lateral (select o.batch_end is null or i.cursor >= o.batch_end as released) r
     where l.queue_id = i.queue_id and l.group_id = i.group_id and l.partition_id = i.partition_id
    returning i.n, r.released
  )
  select array_agg(m.released order by m.n) into v_released from moved m;
  return query select u.ord, v_released[u.line], false from unnest(v_ords, v_lane) u(ord, line);
end
$$;
