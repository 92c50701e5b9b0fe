-- purpose: gives every key that a call may write or check a row, and locks those rows until the commit
-- locks in order: kv (ns, key): share for a check, no key update for a write
-- raises: nothing
-- idempotent how: a row that exists is only locked
-- index used: kv_pkey
-- An absent key gets a row of version 0 that has always been expired: so absence can be judged before anything is
-- written, every write is an update under a lock, and a version is never drawn by somebody who then loses the key.
create or replace function lockstep._kv_lock(p_op text[], p_ns text[], p_key text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_ns text[];
  v_key text[];
  v_writes boolean[];
  v_from int := 1;
  v_count int;
begin
  select array_agg(k.ns), array_agg(k.key), array_agg(k.writes) into v_ns, v_key, v_writes
    from (select l.ns, l.key, bool_or(l.op <> 'check') as writes
            from (select u.op, u.ns collate "C" as ns, u.key collate "C" as key from unnest(p_op, p_ns, p_key) u(op, ns, key)) l
           where l.op in ('put', 'putIfAbsent', 'delete', 'incr', 'check')
           group by l.ns, l.key
           order by l.ns, l.key) k;
  v_count := coalesce(cardinality(v_key), 0);
  -- One statement per stretch of the order that names one namespace and one strength.
  for i in 1 .. v_count loop
    if not v_writes[i] then
      loop
        perform 1 from kv where kv.ns = v_ns[i] and kv.key = v_key[i] for share;
        exit when found;
        insert into kv (ns, key, value, version, expires_at, updated_at)
          values (v_ns[i], v_key[i], 'null', 0, '-infinity', v_now) on conflict do nothing;
      end loop;
      v_from := i + 1;
    elsif i = v_count or v_ns[i + 1] <> v_ns[i] or not v_writes[i + 1] then
      -- "where false" locks the row that is there and changes nothing, and starts over when it vanished meanwhile.
      insert into kv (ns, key, value, version, expires_at, updated_at)
        select v_ns[i], k, 'null', 0, '-infinity', v_now from unnest(v_key[v_from:i]) k
        on conflict (ns, key) do update set version = kv.version where false;
      v_from := i + 1;
    end if;
  end loop;
end
$$;
