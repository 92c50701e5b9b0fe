-- purpose: records the answer of a request that open_request took in this transaction
-- locks in order: none new; the id is held since it was opened
-- raises: nothing
-- idempotent how: an answer that is there stays
-- index used: request_pkey
create or replace function lockstep.close_request(p_id text, p_result text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  perform lockstep._close_requests(array[p_id], array[p_result]);
end
$$;
