-- purpose: key/value operations inside the caller's own transaction: text in, one JSON text out, for any driver
-- locks in order: kv (ns, key)
-- raises: LS402 kv_bad_request, LS403 kv_duplicate_key_in_call, LS413 payload_too_large; 25006, 40001 of the caller's transaction
-- idempotent how: through expect; works under any isolation level and after ROLLBACK TO
-- index used: kv_pkey
-- One line per operation, p_pos counting them from 0; a getMany has one line per key, all with its p_pos. p_ttl is
-- seconds, null for ever. Answer: {"ok":true,"results":[…]} in p_pos order, values as JSON strings of their text, or, when
-- a required operation lost, {"ok":false,"failedIndex":…,"kvReason":…,"version":…,"value":…} and nothing was written.
create or replace function lockstep.kv(
  p_pos int[], p_op text[], p_ns text[], p_key text[], p_value text[], p_expect bigint[], p_required boolean[],
  p_ttl bigint[], p_delta numeric[], p_min numeric[], p_max numeric[], p_limit int[], p_after text[], p_keys_only boolean[])
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_call int[] := array_fill(0, array[cardinality(p_op)]);
  v_answer text;
begin
  perform lockstep._kv_demand(p_op, p_ns, p_key, p_value);
  if p_op && array['put', 'putIfAbsent', 'delete', 'incr', 'check'] then
    select j.answer into v_answer
      from lockstep.kv_joined(v_call, p_pos, p_op, p_ns, p_key, p_value, p_expect, p_required, p_ttl, p_delta, p_min, p_max,
                              p_limit, p_after, p_keys_only) j;
  else
    select r.answer into v_answer
      from lockstep.kv_read_joined(v_call, p_pos, p_op, p_ns, p_key, p_limit, p_after, p_keys_only) r;
  end if;
  return coalesce(v_answer, '{"ok":true,"results":[]}');
end
$$;
