-- purpose: many calls of key/value operations that write or check, each judged alone and in order; one JSON answer per call
-- locks in order: kv (ns, key), of all calls together, before anything is judged
-- raises: LS403 kv_duplicate_key_in_call
-- idempotent how: through expect, or an Idempotency-Key around it
-- index used: kv_pkey
-- A call that has a getPrefix beside its writes comes alone: its prefix is read after what was written here.
create or replace function lockstep.kv_joined(
  p_call int[], p_pos int[], p_op text[], p_ns text[], p_key text[], p_value text[], p_expect bigint[],
  p_required boolean[], p_ttl bigint[], p_delta numeric[], p_min numeric[], p_max numeric[],
  p_limit int[], p_after text[], p_keys_only boolean[])
returns table (call_no int, answer text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz;
  v_calls int[] := '{}';
  v_answers text[] := '{}';
  v_ns text[] := '{}';
  v_key text[] := '{}';
  v_value text[] := '{}';
  v_version bigint[] := '{}';
  v_expires timestamptz[] := '{}';
  v_verdict record;
begin
  perform lockstep._kv_lock(p_op, p_ns, p_key);
  v_now := lockstep.clock();
  for v_verdict in
    select * from lockstep._kv_judge(
      v_now, p_call, p_pos, p_op, p_ns, p_key, p_value, p_expect, p_required, p_ttl, p_delta, p_min, p_max)
  loop
    v_calls := v_calls || v_verdict.call_no;
    v_answers := v_answers || v_verdict.answer;
    v_ns := v_ns || v_verdict.write_ns; v_key := v_key || v_verdict.write_key; v_value := v_value || v_verdict.write_value;
    v_version := v_version || v_verdict.write_version; v_expires := v_expires || v_verdict.write_expires_at;
  end loop;
  if cardinality(v_ns) > 0 then
    perform lockstep._kv_write(v_now, v_ns, v_key, v_value, v_version, v_expires);
  end if;
  for i in 1 .. cardinality(v_calls) loop
    call_no := v_calls[i];
    answer := v_answers[i];
    if 'getPrefix' = any (p_op) then
      -- Only a result reads {"prefix":n}: inside keys and values the quotes are escaped.
      for v_verdict in
        select r.pos, r.result
          from lockstep._kv_read(v_now, p_call, p_pos, p_op, p_ns, p_key, p_limit, p_after, p_keys_only) r
         where r.call_no = v_calls[i]
      loop
        answer := replace(answer, '{"prefix":' || v_verdict.pos || '}', v_verdict.result);
      end loop;
    end if;
    return next;
  end loop;
end
$$;
