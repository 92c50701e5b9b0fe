-- purpose: refuses key/value operations of a wrong shape from callers that no door has checked
-- locks in order: none
-- raises: LS402 kv_bad_request, LS413 payload_too_large
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._kv_demand(p_op text[], p_ns text[], p_key text[], p_value text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_wrong record;
begin
  select u.*, octet_length(u.key) as bytes into v_wrong
    from unnest(p_op, p_ns, p_key, p_value) with ordinality u(op, ns, key, value, ord)
   where u.op is null or u.op not in ('get', 'getMany', 'getPrefix', 'put', 'putIfAbsent', 'delete', 'incr', 'check')
      or u.ns is null or u.ns !~ '^[a-z0-9][a-z0-9._-]{0,63}$'
      or coalesce(octet_length(u.key), 0) not between 1 and 512 and (u.op <> 'getMany' or u.key is not null)
      or u.op in ('put', 'putIfAbsent') and coalesce(octet_length(u.value), 0) not between 1 and 65536
   order by u.ord limit 1;
  if not found then
    return;
  end if;
  if v_wrong.op is null or v_wrong.op not in ('get', 'getMany', 'getPrefix', 'put', 'putIfAbsent', 'delete', 'incr', 'check') then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = format('%L is no key/value operation', v_wrong.op);
  elsif v_wrong.ns is null or v_wrong.ns !~ '^[a-z0-9][a-z0-9._-]{0,63}$' then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request',
      message = format('ns must be a-z and 0-9 first, then also . _ -, 64 at most, not %L', v_wrong.ns);
  elsif coalesce(v_wrong.bytes, 0) not between 1 and 512 then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request',
      message = format('a key (and a prefix) has 1 to 512 bytes, not %s', coalesce(v_wrong.bytes, 0));
  elsif v_wrong.value is null then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = 'a value must be JSON; for the JSON null write ''null''';
  end if;
  raise exception using errcode = 'LS413', detail = 'payload_too_large',
    message = format('the value of %L has %s bytes; at most 65536 are allowed', v_wrong.key, octet_length(v_wrong.value));
end
$$;
