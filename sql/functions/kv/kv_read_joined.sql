-- purpose: many calls that only read (get, getMany, getPrefix), each a list of operations; one JSON answer per call
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: kv_pkey
create or replace function lockstep.kv_read_joined(
  p_call int[], p_pos int[], p_op text[], p_ns text[], p_key text[], p_limit int[], p_after text[], p_keys_only boolean[])
returns table (call_no int, answer text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select r.call_no, '{"ok":true,"results":[' || string_agg(r.result, ',' order by r.pos) || ']}'
      from lockstep._kv_read(v_now, p_call, p_pos, p_op, p_ns, p_key, p_limit, p_after, p_keys_only) r
     group by r.call_no;
end
$$;
