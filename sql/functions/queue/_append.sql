-- purpose: gives the items of one queue their offsets and stores them; the caller holds the partitions
-- locks in order: lane (partition, group)
-- raises: nothing
-- idempotent how: a known transaction id inside the window answers duplicate
-- index used: message_tx_hash, partition_pkey
create or replace function lockstep._append(
  p_queue_id int, p_name text, p_busy bigint[], p_queue text[], p_partition_id bigint[], p_transaction_id text[],
  p_payload text[], p_trace_id text[], p_producer_sub text[], p_id uuid[])
returns table (ord int, status text, message_id uuid, message_offset bigint, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_window int;
  v_max_size bigint;
  v_room bigint;
  v_now timestamptz;
  v_pushed bigint[];
begin
  select q.dedup_window_seconds, q.max_size into v_window, v_max_size from queue q where q.id = p_queue_id;
  if v_max_size > 0 then
    v_room := greatest(v_max_size - lockstep._waiting(p_queue_id), 0);
  end if;
  v_pushed := array(
    select distinct i.partition_id from unnest(p_queue, p_partition_id) i(queue, partition_id)
     where i.queue = p_name and i.partition_id is not null and i.partition_id <> all (p_busy));
  v_now := lockstep.clock();

  return query
  with item as (
    select i.ord, i.partition_id, i.id, coalesce(i.tx, i.id::text) as tx, lockstep.tx_hash(coalesce(i.tx, i.id::text)) as tx_hash,
           i.payload, i.trace, i.sub, v_window > 0 and i.tx is not null as judged
      from unnest(p_queue, p_partition_id, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id)
           with ordinality i(queue, partition_id, tx, payload, trace, sub, id, ord)
     where i.queue = p_name and i.partition_id is not null and i.partition_id <> all (p_busy)
  ), known as (
    select i.*, m.id as first_id, m.payload as first_payload
      from item i
      left join lateral (
        select k.id, k.payload from message k
         where k.queue_id = p_queue_id and k.partition_id = i.partition_id and k.tx_hash = i.tx_hash
           and k.transaction_id = i.tx and k.created_at > v_now - make_interval(secs => v_window)
         order by k."offset" limit 1) m on i.judged
  ), twin as (
    select k.*, row_number() over same as nth, first_value(k.id) over same as twin_id,
           first_value(k.payload) over same as twin_payload
      from known k
    window same as (partition by k.partition_id, case when k.judged then k.tx else k.id::text end order by k.ord)
  ), fresh as (
    select t.*, row_number() over (order by t.ord) as nth_fresh,
           row_number() over (partition by t.partition_id order by t.ord) - 1 as step
      from twin t where t.first_id is null and t.nth = 1
  ), stored as (
    insert into message (queue_id, partition_id, "offset", id, transaction_id, tx_hash, payload, trace_id, producer_sub, created_at)
      select p_queue_id, f.partition_id, p.next_offset + f.step, f.id, f.tx, f.tx_hash, f.payload, f.trace, f.sub,
             greatest(v_now, p.last_created_at)
        from fresh f
        join partition p on p.queue_id = p_queue_id and p.id = f.partition_id
       where v_room is null or f.nth_fresh <= v_room
      returning "offset", id
  ), moved as (
    update partition p
       set next_offset = p.next_offset + c.n, last_created_at = greatest(v_now, p.last_created_at), last_pushed_at = v_now
      from (select f.partition_id, count(*) as n from fresh f where v_room is null or f.nth_fresh <= v_room group by 1) c
     where p.queue_id = p_queue_id and p.id = c.partition_id
  )
  select t.ord::int,
         case when t.first_id is not null then 'duplicate' when s.id is null then 'queue_full'
              when t.nth = 1 then 'queued' else 'duplicate' end,
         coalesce(t.first_id, t.twin_id), case when t.nth = 1 then s."offset" end,
         case when t.first_id is not null then t.first_payload <> t.payload
              else s.id is not null and t.twin_payload <> t.payload end
    from twin t
    left join stored s on s.id = t.twin_id
   order by t.ord;

  perform lockstep._wake(p_queue_id, v_pushed, v_now);
end
$$;
