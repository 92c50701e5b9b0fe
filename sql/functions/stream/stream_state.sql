-- purpose: what a query remembers of one partition, by key: all of it, or what every given filter lets through
-- locks in order: none
-- raises: LS413 payload_too_large
-- idempotent how: reads only
-- index used: stream_state_pkey, stream_state_ripe
-- p_keys empty: no filter. p_ripe: only what has a numeric windowEnd at or before it. p_limit: the first that many keys.
create or replace function lockstep.stream_state(
  p_query_id int, p_queue_id int, p_partition_id bigint, p_keys text[] default '{}', p_prefix text default null,
  p_ripe double precision default null, p_max_bytes bigint default 67108864,
  p_limit int default null)
returns table (key text, value text, updated_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
declare
  -- No key of 1,024 bytes that begins with the prefix sorts after the prefix and 256 times the last character.
  v_past text := p_prefix || repeat(chr(1114111), 256);
  v_total bigint;
begin
  select sum(octet_length(l.key) + octet_length(l.value)) into v_total
    from (select s.key, s.value from stream_state s
           where s.query_id = p_query_id and s.queue_id = p_queue_id and s.partition_id = p_partition_id
             and (p_keys = '{}' or s.key = any (p_keys))
             and (p_prefix is null or s.key >= p_prefix and s.key <= v_past)
             and (p_ripe is null or s.window_end <= p_ripe)
           order by s.key limit p_limit) l;
  if v_total > p_max_bytes then
    raise exception using errcode = 'LS413', detail = 'payload_too_large',
      message = format('the state asked for holds %s bytes, more than the %s of one answer: ask by keys or a prefix', v_total, p_max_bytes);
  end if;
  return query
    select s.key, s.value, s.updated_at
      from stream_state s
     where s.query_id = p_query_id and s.queue_id = p_queue_id and s.partition_id = p_partition_id
       and (p_keys = '{}' or s.key = any (p_keys))
       and (p_prefix is null or s.key >= p_prefix and s.key <= v_past)
       and (p_ripe is null or s.window_end <= p_ripe)
     order by s.key limit p_limit;
end
$$;
