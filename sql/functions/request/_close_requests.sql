-- purpose: keeps the answers of requests that commit, and gives back the ids of those that rolled back (answer null): they
--   changed nothing and are judged again when repeated
-- locks in order: request (id), held since _open_requests
-- raises: nothing
-- idempotent how: same transaction as what the answer speaks of; an answer that is there stays
-- index used: request_pkey
create or replace function lockstep._close_requests(p_id text[], p_answer text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  update request r set result = i.answer
    from unnest(p_id, p_answer) i(id, answer)
   where r.id = i.id and r.result is null and i.answer is not null;
  delete from request r
   using unnest(p_id, p_answer) i(id, answer)
   where r.id = i.id and r.result is null and i.answer is null;
end
$$;
