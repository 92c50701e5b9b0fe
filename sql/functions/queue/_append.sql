-- purpose: gives the items of one queue their offsets and stores them; the caller holds the partitions
-- locks in order: lane (partition, group)
-- raises: LS426 encryption_required
-- idempotent how: a transaction id known inside the window answers duplicate, so does a repeat within the call
-- index used: message_tx_hash, partition_pkey, encryption_key_pkey
-- An item without partition id is passed over. Keyed lookups are lateral with a limit, bulk updates by = any: a plan that was
-- made while a table was small stays right.
create or replace function lockstep._append(
  p_queue_id int, p_partition_id bigint[], p_transaction_id text[], p_payload text[], p_trace_id text[], p_producer_sub text[],
  p_id uuid[])
returns table (nth int, status text, message_id uuid, message_offset bigint, conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_window int;
  v_delay int;
  v_max_size bigint;
  v_name text;
  v_room bigint;
  v_now timestamptz;
  v_ids bigint[] := array(select distinct u from unnest(p_partition_id) u where u is not null order by u);
  v_heads bigint[];
  v_lasts timestamptz[];
  v_hash bigint[];
  v_first uuid[];
  v_differs boolean[];
  v_at bigint[];
  v_status text[];
  v_plain boolean;
begin
  if cardinality(v_ids) = 0 then
    return;
  end if;
  select q.dedup_window_seconds, q.max_size, greatest(q.delayed_processing_seconds, q.window_buffer_seconds),
         case when q.encryption_enabled then q.name end
    into v_window, v_max_size, v_delay, v_name from queue q where q.id = p_queue_id;
  if v_name is not null then
    perform lockstep._demand_sealed(v_name, array(
      select i.payload from unnest(p_payload, p_partition_id) i(payload, partition_id) where i.partition_id is not null));
  end if;
  if v_max_size > 0 then
    v_room := greatest(v_max_size - lockstep._waiting(p_queue_id), 0);
  end if;
  select array_agg(p.next_offset order by p.id), array_agg(p.last_created_at order by p.id) into v_heads, v_lasts
    from partition p where p.queue_id = p_queue_id and p.id = any (v_ids);
  v_now := lockstep.clock();

  if v_window > 0 then
    select array_agg(h.hash order by i.ord), array_agg(m.id order by i.ord), array_agg(lockstep._differs(m.payload, i.payload) order by i.ord),
           count(m.id) = 0 and count(*) = count(distinct (i.partition_id, coalesce(i.tx, i.id::text)))
      into v_hash, v_first, v_differs, v_plain
      from unnest(p_partition_id, p_transaction_id, p_id, p_payload) with ordinality i(partition_id, tx, id, payload, ord)
     cross join lateral (select lockstep.tx_hash(i.partition_id, coalesce(i.tx, i.id::text)) as hash offset 0) h
      left join lateral (
        select k.id, k.payload from message k
         where k.queue_id = p_queue_id and k.tx_hash = h.hash and k.partition_id + 0 = i.partition_id and k.transaction_id = i.tx
           and k.created_at > v_now - make_interval(secs => v_window)
         order by k."offset" limit 1) m on true;
  else
    select array_agg(lockstep.tx_hash(i.partition_id, coalesce(i.tx, i.id::text)) order by i.ord) into v_hash
      from unnest(p_partition_id, p_transaction_id, p_id) with ordinality i(partition_id, tx, id, ord);
    v_plain := true;
  end if;

  if v_plain and v_room is null then
    select array_agg(i.at order by i.ord) into v_at
      from (select u.ord, v_heads[array_position(v_ids, u.partition_id)]
                     + row_number() over (partition by u.partition_id order by u.ord) - 1 as at
              from unnest(p_partition_id) with ordinality u(partition_id, ord)) i;
    return query
      select i.ord::int, 'queued'::text, i.id, i.at, false
        from unnest(p_id, v_at) with ordinality i(id, at, ord) where i.at is not null;
  else
    select array_agg(n.at order by n.ord), array_agg(n.status order by n.ord), array_agg(n.first_id order by n.ord),
           array_agg(n.differs order by n.ord)
      into v_at, v_status, v_first, v_differs
      from lockstep._number_items(p_partition_id, p_transaction_id, p_id, p_payload, v_first, v_differs, v_ids, v_heads,
             coalesce(v_room, 9223372036854775807), v_window > 0) n;
    return query
      select i.ord::int, i.status, i.first_id, i.at, i.differs
        from unnest(v_status, v_first, v_at, v_differs) with ordinality i(status, first_id, at, differs, ord)
       where p_partition_id[i.ord] is not null;
  end if;

  insert into message (queue_id, partition_id, "offset", id, transaction_id, tx_hash, payload, trace_id, producer_sub, created_at)
    select p_queue_id, i.partition_id, i.at, i.id, coalesce(i.tx, i.id::text), i.hash, i.payload, i.trace, i.sub,
           greatest(v_now, v_lasts[array_position(v_ids, i.partition_id)])
      from unnest(p_partition_id, v_at, p_id, p_transaction_id, v_hash, p_payload, p_trace_id, p_producer_sub)
           i(partition_id, at, id, tx, hash, payload, trace, sub)
     where i.at is not null and i.partition_id is not null;
  select array_agg(c.n order by c.id), array_agg(c.id order by c.id) into v_heads, v_ids
    from (select i.partition_id as id, count(*) as n from unnest(p_partition_id, v_at) i(partition_id, at)
           where i.at is not null and i.partition_id is not null group by 1) c;
  if v_ids is null then
    return;
  end if;
  update partition p
     set next_offset = p.next_offset + v_heads[array_position(v_ids, p.id)],
         last_created_at = greatest(v_now, p.last_created_at), last_pushed_at = v_now
   where p.queue_id = p_queue_id and p.id = any (v_ids);
  perform lockstep._wake(p_queue_id, v_ids, v_now + make_interval(secs => v_delay));
end
$$;
