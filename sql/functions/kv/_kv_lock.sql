-- purpose: gives every key that a call may write or check a row, and locks those rows until the commit
-- locks in order: kv (ns, key): share for a check, no key update for a write
-- raises: nothing
-- idempotent how: a row that exists is only locked
-- index used: kv_pkey
-- An absent key gets a row of version 0 that has always been expired: so absence can be judged before anything is
-- written, every write is an update under a lock, and a version is never drawn by somebody who then loses the key.
create or replace function lockstep._kv_lock(p_op text[], p_ns text[], p_key text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_run record;
  v_key text;
begin
  -- One statement per stretch of the order that names one namespace and one strength.
  for v_run in
    select r.ns, r.writes, array_agg(r.key order by r.key collate "C") as keys
      from (select k.ns, k.key, k.writes,
                   row_number() over (order by k.ns collate "C", k.key collate "C")
                     - row_number() over (partition by k.ns, k.writes order by k.key collate "C") as stretch
              from (select l.ns, l.key, bool_or(l.op <> 'check') as writes
                      from unnest(p_op, p_ns, p_key) l(op, ns, key)
                     where l.op in ('put', 'putIfAbsent', 'delete', 'incr', 'check')
                     group by l.ns, l.key) k) r
     group by r.ns, r.writes, r.stretch
     order by r.ns collate "C", min(r.key collate "C")
  loop
    if v_run.writes then
      -- "where false" locks the row that is there and changes nothing, and starts over when it vanished meanwhile.
      insert into kv (ns, key, value, version, expires_at, updated_at)
        select v_run.ns, k, 'null', 0, '-infinity', v_now from unnest(v_run.keys) k order by k collate "C"
        on conflict (ns, key) do update set version = kv.version where false;
    else
      foreach v_key in array v_run.keys loop
        loop
          perform 1 from kv where kv.ns = v_run.ns and kv.key = v_key for share;
          exit when found;
          insert into kv (ns, key, value, version, expires_at, updated_at)
            values (v_run.ns, v_key, 'null', 0, '-infinity', v_now) on conflict do nothing;
        end loop;
      end loop;
    end if;
  end loop;
end
$$;
