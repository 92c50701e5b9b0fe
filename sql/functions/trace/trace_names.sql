-- purpose: the names that traces were noted under, the most recently used first
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: trace_name_pkey
create or replace function lockstep.trace_names(p_limit int default 100, p_offset int default 0)
returns table (name text, traces bigint, messages bigint, last_seen text, total bigint)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select n.name, count(*), count(distinct (n.partition_id, n.tx_hash)), lockstep.instant_text(max(n.created_at)), count(*) over ()
    from trace_name n
   group by n.name
   order by max(n.created_at) desc, n.name
   limit p_limit offset p_offset
$$;
