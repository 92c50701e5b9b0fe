-- purpose: takes a request id for the caller's transaction; the answer recorded for it earlier, or null when it is the first
-- locks in order: request (id)
-- raises: LS400 bad_request, LS409 request_conflict, LS425 isolation_not_supported
-- idempotent how: see _open_requests
-- index used: request_pkey
create or replace function lockstep.open_request(p_id text, p_body_hash text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_row record;
begin
  if p_id is null or p_id = '' or octet_length(p_id) > 256 then -- LIMITS.requestIdBytes
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'a request id must be 1 to 256 bytes long';
  end if;
  if p_body_hash is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'a request id needs the hash of its body';
  end if;
  select o.state, o.answer into v_row from lockstep._open_requests(array[p_id], array[p_body_hash]) o;
  if v_row.state = 'conflict' then
    raise exception using errcode = 'LS409', detail = 'request_conflict',
      message = 'this request id was used with another body within 24 hours';
  end if;
  return v_row.answer;
end
$$;
