<<<<<<< HEAD
-- purpose: keeps the answers of requests that commit, and forgets those that rolled back (answer null): they changed nothing
--   and are judged again when repeated
-- locks in order: request (id), held since _open_requests
-- raises: nothing
-- idempotent how: same transaction as what the answer speaks of
-- index used: request_pkey
create or replace function lockstep._close_requests(p_id text[], p_answer text[]) returns void
=======
-- purpose: records the answers of requests opened in this transaction; a null answer gives the id back, for what rolled back
-- locks in order: none new; the ids are held since they were opened
-- raises: nothing
-- idempotent how: writes only rows that have no answer yet
-- index used: request_pkey
create or replace function lockstep._close_requests(p_ids text[], p_results text[]) returns void
>>>>>>> cdf46cf (Record the first committed answer of a request id)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
<<<<<<< HEAD
  update request r set result = i.answer
    from unnest(p_id, p_answer) i(id, answer)
   where r.id = i.id and i.answer is not null;
  delete from request r
   using unnest(p_id, p_answer) i(id, answer)
   where r.id = i.id and i.answer is null;
=======
  update request r set result = u.result
    from unnest(p_ids, p_results) u(id, result)
   where r.id = u.id and r.result is null and u.result is not null;
  delete from request r using unnest(p_ids, p_results) u(id, result)
   where r.id = u.id and r.result is null and u.result is null;
>>>>>>> cdf46cf (Record the first committed answer of a request id)
end
$$;
