-- purpose: the traces under a name, the newest first, each with its message where that is still kept
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: trace_name_time, trace_pkey, message_tx_hash
create or replace function lockstep.named_traces(p_name text, p_limit int default 100, p_offset int default 0)
returns table (id uuid, event_type text, data text, group_name text, worker_id text, created_at text, names text[],
  transaction_id text, partition_id text, queue text, partition text, message_id uuid, payload text, total bigint)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select t.id, t.event_type, t.data, t.group_name, t.worker_id, lockstep.instant_text(t.created_at), t.names,
         t.transaction_id, t.partition_id, f.queue, f.partition, f.id, f.payload,
         (select count(*) from trace_name c where c.name = p_name)
    from (select n.* from trace_name n where n.name = p_name order by n.created_at desc, n.id desc limit p_limit offset p_offset) n
    join trace t on t.partition_id = n.partition_id and t.tx_hash = n.tx_hash and t.id = n.id
    left join lateral (
      select m.queue, m.partition, m.id, m.payload
        from lockstep.find_message(
          case when t.partition_id ~ '^[0-9]{13,21}$' then left(t.partition_id, -12)::bigint::int end,
          case when t.partition_id ~ '^[0-9]{13,21}$' then right(t.partition_id, 12)::bigint end, t.transaction_id) m) f on true
   order by n.created_at desc, n.id desc
$$;
