-- purpose: rows of one table that hold payloads, behind a place in the order of its key, with what a payload is bound to
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: message_pkey, staged_pkey, dead_letter_pkey, timer_pkey, queue_live_name
create or replace function lockstep._payload_rows(p_table text, p_after text, p_limit int)
returns table (place text, queue text, partition text, message_id uuid, transaction_id text, payload text, encrypted boolean)
language plpgsql stable
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off
as $$
begin
  if p_table = 'message' then
    return query
      select json_build_array(m.queue_id::text, m.partition_id::text, m."offset"::text)::text, q.name::text, p.name::text, m.id, m.transaction_id, m.payload,
             q.encryption_enabled
        from (select * from message k
               where (k.queue_id, k.partition_id, k."offset")
                   > (coalesce((p_after::json ->> 0)::int, 0), coalesce((p_after::json ->> 1)::bigint, 0), coalesce((p_after::json ->> 2)::bigint, -1))
               order by k.queue_id, k.partition_id, k."offset" limit p_limit) m
        left join queue q on q.id = m.queue_id and q.deleted_at is null
        left join partition p on p.queue_id = m.queue_id and p.id = m.partition_id
       order by m.queue_id, m.partition_id, m."offset";
  elsif p_table = 'dead_letter' then
    return query
      select json_build_array(d.queue_id::text, d.id::text)::text, q.name::text, d.partition_name::text, d.message_id, d.transaction_id, d.payload,
             q.encryption_enabled
        from (select * from dead_letter k
               where (k.queue_id, k.id)
                   > (coalesce((p_after::json ->> 0)::int, 0), coalesce((p_after::json ->> 1), '00000000-0000-0000-0000-000000000000')::uuid)
               order by k.queue_id, k.id limit p_limit) d
        left join queue q on q.id = d.queue_id and q.deleted_at is null
       order by d.queue_id, d.id;
  elsif p_table = 'staged' then
    return query
      select json_build_array(s.queue_name::text, s.partition_name::text, s.seq::text)::text, s.queue_name::text, s.partition_name::text, s.id,
             s.transaction_id, s.payload, coalesce(q.encryption_enabled, false)
        from (select * from staged k
               where (k.queue_name, k.partition_name, k.seq)
                   > (coalesce((p_after::json ->> 0), ''), coalesce((p_after::json ->> 1), ''), coalesce((p_after::json ->> 2)::bigint, -1))
               order by k.queue_name, k.partition_name, k.seq limit p_limit) s
        left join queue q on q.name = s.queue_name and q.deleted_at is null
       order by s.queue_name, s.partition_name, s.seq;
  else
    return query
      select json_build_array(t.queue_name::text, t.key::text)::text, t.queue_name::text, t.partition_name::text, t.message_id, t.transaction_id, t.payload,
             coalesce(q.encryption_enabled, false)
        from (select * from timer k
               where (k.queue_name, k.key) > (coalesce((p_after::json ->> 0), ''), coalesce((p_after::json ->> 1), '')) and k.revision >= 0
               order by k.queue_name, k.key limit p_limit) t
        left join queue q on q.name = t.queue_name and q.deleted_at is null
       order by t.queue_name, t.key;
  end if;
end
$$;
