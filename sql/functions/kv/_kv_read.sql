-- purpose: get, getMany and getPrefix of many calls from one snapshot; a result's JSON text per operation
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
-- Stable, so that all of it is read at the caller's one instant. Rows past a call's 4 MiB are not fetched.
create or replace function lockstep._kv_read(
  p_now timestamptz, p_call int[], p_pos int[], p_op text[], p_ns text[], p_key text[],
  p_limit int[], p_after text[], p_keys_only boolean[])
returns table (call_no int, pos int, result text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with line as materialized (
      select u.call, u.pos, u.op, u.ns, u.key, u.after, u.keys_only, u.ord,
             least(greatest(coalesce(u.rows, 100), 1), 1000) as rows  -- LIMITS.kvPrefixLimit
        from unnest(p_call, p_pos, p_op, p_ns, p_key, p_limit, p_after, p_keys_only)
             with ordinality u(call, pos, op, ns, key, rows, after, keys_only, ord)
       where u.op in ('get', 'getMany', 'getPrefix')
    ), hit as (
      select n.call, n.pos, n.op, n.ord, n.after, n.rows, n.keys_only, n.key as asked, k.key, k.value, k.version,
             k.expires_at, k.updated_at, row_number() over (partition by n.ord order by k.key) as rank,
             sum(case when n.op <> 'get' then
                   octet_length(k.key) + case when n.keys_only then 0 else octet_length(k.value) end end)
               over (partition by n.call order by n.pos, n.ord, k.key) as bytes
        from line n
        left join lateral (
          (select c.key, c.value, c.version, c.expires_at, c.updated_at from kv c
            where n.op <> 'getPrefix' and c.ns = n.ns and c.key = n.key
              and (c.expires_at is null or c.expires_at > p_now) limit 1)
          union all
          -- No key of 512 bytes that begins with the prefix sorts after the prefix and 128 times the last character.
          (select c.key, c.value, c.version, c.expires_at, c.updated_at from kv c
            where n.op = 'getPrefix' and c.ns = n.ns and c.key >= n.key and c.key > coalesce(n.after, '')
              and c.key <= n.key || repeat(chr(1114111), 128)
              and (c.expires_at is null or c.expires_at > p_now)
            order by c.key limit n.rows + 1)) k on true
    ), sorted as (
      select h.*, h.key is not null and (h.op <> 'getPrefix' or h.rank <= h.rows)
             and h.bytes <= 4 * 1024 * 1024 as shown  -- LIMITS.kvReadBytes
        from hit h
    ), folded as (
      select s.call, s.pos, min(s.op) as op, min(s.after) as after,
             bool_or(s.key is not null and not s.shown) as truncated,
             max(s.key) filter (where s.shown) as last,
             string_agg(case when s.shown then '{"key":' || to_json(s.key)::text || ','
               || lockstep._kv_row(case when s.keys_only then null else s.value end, s.version, s.expires_at, s.updated_at)
               || '}' end, ',' order by s.ord, s.key) as rows,
             string_agg(to_json(s.asked)::text, ',' order by s.ord) filter (where s.key is null) as missing
        from sorted s
       where s.op <> 'get'
       group by s.call, s.pos
    )
    select f.call, f.pos, '{"rows":[' || coalesce(f.rows, '')
           || case when f.op = 'getMany' then '],"missing":[' || coalesce(f.missing, '') || ']' else ']' end
           || ',"truncated":' || f.truncated::text
           || case when f.op = 'getMany' then ''
                   else ',"nextAfter":' || case when f.truncated then to_json(coalesce(f.last, f.after, ''))::text else 'null' end end
           || '}'
      from folded f
    union all
    select s.call, s.pos, case when s.key is null then '{"found":false}'
           else '{"found":true,' || lockstep._kv_row(s.value, s.version, s.expires_at, s.updated_at) || '}' end
      from hit s
     where s.op = 'get';
end
$$;
