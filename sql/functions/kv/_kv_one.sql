-- purpose: one write or check with typed parts of its verdict, for the forms that people call from SQL
-- locks in order: kv (ns, key)
-- raises: LS402 kv_bad_request, LS413 payload_too_large
-- idempotent how: through expect
-- index used: kv_pkey
create or replace function lockstep._kv_one(
  p_op text, p_ns text, p_key text, p_value text, p_expect bigint, p_ttl interval, p_forever boolean,
  p_delta numeric, p_min numeric, p_max numeric,
  out applied boolean, out reason text, out version bigint, out value text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz;
  v_seconds bigint := ceil(extract(epoch from p_ttl));
  v_verdict record;
  v_result json;
begin
  perform lockstep._kv_demand(array[p_op], array[p_ns], array[p_key], array[p_value]);
  if p_op in ('put', 'putIfAbsent', 'incr') and (p_ttl is null) <> coalesce(p_forever, false) then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request',
      message = 'say how long the value lives: p_ttl => ''30 days'', or p_forever => true, not both';
  end if;
  if v_seconds not between 1 and 3155760000 then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = 'p_ttl must be from one second to a hundred years';
  end if;
  if p_expect < 0 then
    raise exception using errcode = 'LS402', detail = 'kv_bad_request', message = 'p_expect must be a version, or 0 for absent';
  end if;
  perform lockstep._kv_lock(array[p_op], array[p_ns], array[p_key]);
  v_now := lockstep.clock();
  select * into v_verdict
    from lockstep._kv_judge(v_now, array[0], array[0], array[p_op], array[p_ns], array[p_key], array[p_value],
      array[p_expect], array[false], array[v_seconds], array[p_delta], array[p_min], array[p_max]);
  if cardinality(v_verdict.write_ns) > 0 then
    perform lockstep._kv_write(v_now, v_verdict.write_ns, v_verdict.write_key, v_verdict.write_value,
                               v_verdict.write_version, v_verdict.write_expires_at);
  end if;
  -- The answer holds the value as a JSON string of its text; the value itself is parsed by nobody.
  v_result := v_verdict.answer::json -> 'results' -> 0;
  applied := v_result ->> 'applied';
  reason := v_result ->> 'reason';
  version := v_result ->> 'version';
  value := coalesce(v_result ->> 'value', case when applied and p_op in ('put', 'putIfAbsent') then p_value end);
end
$$;
