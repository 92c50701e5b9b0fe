-- purpose: the traces of one message, the newest first
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: trace_pkey
create or replace function lockstep.message_traces(p_partition_id text, p_transaction_id text, p_limit int default 100)
returns table (id uuid, event_type text, data text, group_name text, worker_id text, created_at text, names text[])
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select t.id, t.event_type, t.data, t.group_name, t.worker_id, lockstep.instant_text(t.created_at), t.names
    from trace t
   where t.partition_id = p_partition_id and t.tx_hash = lockstep._trace_hash(p_partition_id, p_transaction_id)
     and t.transaction_id = p_transaction_id
   order by t.created_at desc, t.id desc
   limit p_limit
$$;
