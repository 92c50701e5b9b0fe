-- purpose: takes request ids for the caller's transaction; new: judge it, recorded: answer is the first committed one,
--   conflict: known with another body
-- locks in order: request (id)
-- raises: LS425 isolation_not_supported
-- idempotent how: the second of two identical requests waits for the first and finds its answer; an id whose first request
--   rolled back, has no answer, or is older than 24 hours, is taken anew
-- index used: request_pkey
create or replace function lockstep._open_requests(p_id text[], p_body_hash text[])
returns table (nth int, state text, answer text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_asked record;
  v_row record;
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._demand_read_committed();
  -- The new ids in one sorted statement: here the second of two identical requests waits, and only here.
  insert into request (id, body_hash, expires_at)
    select i.id, min(i.hash), v_now + interval '86400 seconds' -- LIMITS.requestIdSeconds
      from unnest(p_id, p_body_hash) i(id, hash) where i.id is not null
     group by i.id order by i.id collate "C"
    on conflict on constraint request_pkey do nothing;
  for v_asked in
    select i.id collate "C" as id, min(i.hash) as hash from unnest(p_id, p_body_hash) i(id, hash)
     where i.id is not null group by 1 order by 1
  loop
    loop
      select r.body_hash, r.result, r.expires_at into v_row
        from request r where r.id = v_asked.id for no key update;
      exit when found;
      -- Gone between the two statements: it rolled back, or upkeep removed it.
      insert into request (id, body_hash, expires_at)
        values (v_asked.id, v_asked.hash, v_now + interval '86400 seconds') -- LIMITS.requestIdSeconds
        on conflict on constraint request_pkey do nothing;
    end loop;
    v_now := lockstep.clock();
    if v_row.result is null or v_row.expires_at <= v_now then
      if v_row.result is not null or v_row.body_hash <> v_asked.hash or v_row.expires_at <= v_now then
        update request r
           set body_hash = v_asked.hash, result = null, expires_at = v_now + interval '86400 seconds' -- LIMITS.requestIdSeconds
         where r.id = v_asked.id;
      end if;
      v_row.result := null;
      v_row.body_hash := v_asked.hash;
    end if;
    return query
      select i.ord::int,
             case when i.hash <> v_row.body_hash then 'conflict' when v_row.result is null then 'new' else 'recorded' end,
             case when i.hash = v_row.body_hash then v_row.result end
        from unnest(p_id, p_body_hash) with ordinality i(id, hash, ord) where i.id = v_asked.id;
  end loop;
end
$$;
