-- purpose: which of the named queues have their encryption on, for a process that holds keys; with p_keys it first makes its
--   keys known by name and mark, once
-- locks in order: none (waits only for a transaction that makes the same key known)
-- raises: LS400 bad_request for a key whose name is known with another mark
-- idempotent how: a known key is found
-- index used: queue_live_name, encryption_key_pkey
-- Answers a JSON array of names, so that it goes through any driver.
create or replace function lockstep.encrypted_queues(p_queue text[], p_keys text[] default '{}', p_marks text[] default '{}')
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_other text;
  v_now timestamptz;
begin
  if exists (select from unnest(p_keys) k where not exists (select from encryption_key e where e.id = k)) then
    v_now := lockstep.clock();
    insert into encryption_key (id, mark, first_seen_at)
      select k.id, k.mark, v_now from unnest(p_keys, p_marks) k(id, mark) order by k.id collate "C"
      on conflict (id) do nothing;
  end if;
  select k.id into v_other
    from unnest(p_keys, p_marks) k(id, mark)
    join encryption_key e on e.id = k.id and e.mark <> k.mark
   order by k.id limit 1;
  if v_other is not null then
    raise exception using errcode = 'LS400', detail = 'bad_request',
      message = format('the encryption key %s is another one than the key of that name used before: give it another name', v_other);
  end if;
  return (
    select coalesce(json_agg(q.name), '[]'::json)::text
      from queue q where q.name = any (p_queue) and q.deleted_at is null and q.encryption_enabled);
end
$$;
