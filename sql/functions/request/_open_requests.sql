<<<<<<< HEAD
-- purpose: announces request ids: new ones are to be judged, known ones answer what they answered first
-- locks in order: request (id)
-- raises: nothing
-- idempotent how: one row per id; the second of two at once waits for the first and reads its answer in a later statement
-- index used: request_pkey
-- State: 'new' = judge it, 'recorded' = answer is the first committed one, 'conflict' = known with another body.
create or replace function lockstep._open_requests(p_id text[], p_body_hash text[])
returns table (nth int, state text, answer text)
=======
-- purpose: takes request ids for the caller's transaction and tells which already have a committed answer; one row per id
-- locks in order: request (id)
-- raises: LS425 isolation_not_supported
-- idempotent how: the second of two identical requests waits for the first and finds its answer; an id whose first request
--   rolled back, or is older than 24 hours, is taken anew
-- index used: request_pkey
create or replace function lockstep._open_requests(p_ids text[], p_body_hashes text[])
returns table (id text, recorded text, conflict boolean)
>>>>>>> cdf46cf (Record the first committed answer of a request id)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
<<<<<<< HEAD
  v_now timestamptz;
  v_new text[] := '{}';
  v_made text[];
begin
  loop
    v_now := lockstep.clock();
    delete from request r where r.id = any (p_id) and r.expires_at <= v_now;
    with made as (
      insert into request (id, body_hash, expires_at)
        select i.id, min(i.body_hash), v_now + interval '24 hours'
          from unnest(p_id, p_body_hash) i(id, body_hash)
         where i.id is not null and i.id <> all (v_new)
         group by i.id order by i.id collate "C"
        on conflict (id) do nothing
        returning id
    )
    select coalesce(array_agg(m.id), '{}') into v_made from made m;
    v_new := v_new || v_made;
    -- Gone again: the other one rolled back between the two looks.
    exit when not exists (
      select 1 from unnest(p_id) i(id)
       where i.id is not null and not exists (select 1 from request r where r.id = i.id));
  end loop;
  return query
    select i.ord::int,
           case when i.id = any (v_new) then 'new' when r.body_hash <> i.body_hash then 'conflict' else 'recorded' end,
           r.result
      from unnest(p_id, p_body_hash) with ordinality i(id, body_hash, ord)
      join request r on r.id = i.id;
=======
  v_asked record;
  v_row record;
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._demand_read_committed();
  -- The new ids in one sorted statement: here the second of two identical requests waits, and only here.
  insert into request (id, body_hash, result, expires_at)
    select u.id, min(u.hash), null, v_now + interval '86400 seconds' -- LIMITS.requestIdSeconds
      from unnest(p_ids, p_body_hashes) u(id, hash)
     group by u.id order by u.id collate "C"
    on conflict on constraint request_pkey do nothing;
  for v_asked in
    select u.id collate "C" as id, min(u.hash) as hash from unnest(p_ids, p_body_hashes) u(id, hash) group by 1 order by 1
  loop
    loop
      select r.body_hash, r.result, r.expires_at into v_row
        from request r where r.id = v_asked.id for no key update;
      exit when found;
      -- Upkeep removed the old row between the two statements.
      insert into request (id, body_hash, result, expires_at)
        values (v_asked.id, v_asked.hash, null, v_now + interval '86400 seconds') -- LIMITS.requestIdSeconds
        on conflict on constraint request_pkey do nothing;
    end loop;
    v_now := lockstep.clock();
    id := v_asked.id;
    recorded := null;
    conflict := false;
    if v_row.result is null or v_row.expires_at <= v_now then
      if v_row.body_hash <> v_asked.hash or v_row.result is not null then
        update request r set body_hash = v_asked.hash, result = null, expires_at = v_now + interval '86400 seconds' -- LIMITS.requestIdSeconds
         where r.id = v_asked.id;
      end if;
    elsif v_row.body_hash <> v_asked.hash then
      conflict := true;
    else
      recorded := v_row.result;
    end if;
    return next;
  end loop;
>>>>>>> cdf46cf (Record the first committed answer of a request id)
end
$$;
