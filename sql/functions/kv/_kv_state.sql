-- purpose: what the keys of joined calls hold, from one snapshot: per line its place in the order of judgement and its slot
--   (a slot is one key), per slot version (0: absent), value, expiry and time of the last write
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
-- Values are fetched only where an operation reads them, for getMany within its call's budget.
create or replace function lockstep._kv_state(
  p_now timestamptz, p_call int[], p_pos int[], p_op text[], p_ns text[], p_key text[],
  out lines int[], out slots int[], out versions bigint[], out texts text[], out expiries timestamptz[],
  out updates timestamptz[])
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_sorted int[];
  v_version bigint[];
  v_value text[];
  v_expires timestamptz[];
  v_updated timestamptz[];
  v_slot int := 0;
  l int;
begin
  if 'getMany' = any (p_op) then
    select array_agg(s.ord order by s.ns collate "C", s.key collate "C"),
           array_agg(s.ord order by s.call, s.op = 'getMany', case when s.op <> 'getMany' then s.ns end collate "C",
                                    case when s.op <> 'getMany' then s.key end collate "C", s.pos, s.ord),
           array_agg(coalesce(s.version, 0) order by s.ord),
           array_agg(case when s.op in ('get', 'incr') or s.op = 'getMany'
             and s.bytes <= 4 * 1024 * 1024  -- LIMITS.kvReadBytes
             then s.value end order by s.ord),
           array_agg(s.expires_at order by s.ord), array_agg(s.updated_at order by s.ord)
      into v_sorted, lines, v_version, v_value, v_expires, v_updated
      from (select u.*, k.*, sum(case when u.op = 'getMany' then octet_length(k.value) end)
                               over (partition by u.call order by u.pos, u.ord) as bytes
              from unnest(p_call, p_pos, p_op, p_ns, p_key) with ordinality u(call, pos, op, ns, key, ord)
              left join lateral (
                select c.version, c.value, c.expires_at, c.updated_at from kv c
                 where c.ns = u.ns and c.key = u.key and (c.expires_at is null or c.expires_at > p_now) limit 1) k on true) s;
  else
    select array_agg(u.ord order by u.ns collate "C", u.key collate "C"),
           array_agg(u.ord order by u.call, u.ns collate "C", u.key collate "C", u.pos),
           array_agg(coalesce(k.version, 0) order by u.ord),
           array_agg(case when u.op in ('get', 'incr') then k.value end order by u.ord),
           array_agg(k.expires_at order by u.ord), array_agg(k.updated_at order by u.ord)
      into v_sorted, lines, v_version, v_value, v_expires, v_updated
      from unnest(p_call, p_pos, p_op, p_ns, p_key) with ordinality u(call, pos, op, ns, key, ord)
      left join lateral (
        select c.version, c.value, c.expires_at, c.updated_at from kv c
         where c.ns = u.ns and c.key = u.key and (c.expires_at is null or c.expires_at > p_now) limit 1) k on true;
  end if;
  slots := v_sorted;
  versions := '{}'; texts := '{}'; expiries := '{}'; updates := '{}';
  for i in 1 .. coalesce(cardinality(v_sorted), 0) loop
    l := v_sorted[i];
    if i = 1 or (p_ns[l], p_key[l]) is distinct from (p_ns[v_sorted[i - 1]], p_key[v_sorted[i - 1]]) then
      v_slot := v_slot + 1;
      versions[v_slot] := v_version[l]; texts[v_slot] := v_value[l];
      expiries[v_slot] := v_expires[l]; updates[v_slot] := v_updated[l];
    elsif texts[v_slot] is null then
      texts[v_slot] := v_value[l];
    end if;
    slots[l] := v_slot;
  end loop;
end
$$;
