-- purpose: announces request ids: new ones are to be judged, known ones answer what they answered first
-- locks in order: request (id)
-- raises: nothing
-- idempotent how: one row per id; the second of two at once waits for the first and reads its answer in a later statement
-- index used: request_pkey
-- State: 'new' = judge it, 'recorded' = answer is the first committed one, 'conflict' = known with another body.
create or replace function lockstep._open_requests(p_id text[], p_body_hash text[])
returns table (nth int, state text, answer text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
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
end
$$;
