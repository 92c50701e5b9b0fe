-- purpose: takes the lowest free permit of a lock (limit 1) or semaphore; an owner that holds one is told which
-- locks in order: kv (ns, key): name# for a semaphore, then the permit's row, SKIP LOCKED
-- raises: nothing
-- idempotent how: through the owner: the permit it holds is answered again with the same token
-- index used: kv_pkey
-- A refusal locks nothing. The row name# lets one acquisition of a semaphore look at a time, so that one owner that asks twice
-- at once gets one permit. A row that somebody uses without holding the permit (a guard's end, a release) is passed by: contended.
create or replace function lockstep._lock_acquire(
  p_name text, p_ttl bigint, p_owner text, p_limit int, out slot int, out token bigint, out reason text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_value text := '{"owner":' || coalesce(to_json(p_owner)::text, 'null') || '}';
  v_now timestamptz := lockstep.clock();
  v_held int[];
begin
  for v_look in 1 .. 2 loop
    select p.slot, p.token into slot, token
      from lockstep._lock_permits(p_name, v_now) p where p.owner = p_owner and p.slot < p_limit order by p.slot limit 1;
    if found then
      reason := 'already';
      return;
    end if;
    v_held := array(select p.slot from lockstep._lock_permits(p_name, v_now) p where p.slot < p_limit);
    if cardinality(v_held) >= p_limit then
      reason := 'held';
      return;
    end if;
    exit when p_limit = 1 or v_look = 2;
    insert into kv (ns, key, value, version, expires_at, updated_at)
      values ('queen-locks', p_name || '#', 'null', 0, '-infinity', v_now)
      on conflict (ns, key) do update set version = kv.version where false;
    v_now := lockstep.clock();
  end loop;
  reason := 'held';
  for v_slot in 0 .. p_limit - 1 loop
    continue when v_slot = any (v_held);
    token := lockstep._lock_take(p_name || '#' || v_slot, v_value, p_ttl);
    if token > 0 then
      slot := v_slot;
      reason := null;
      return;
    elsif token < 0 then
      reason := 'contended';
    end if;
  end loop;
end
$$;
