-- purpose: acquires, renews, releases and looks at locks and semaphores, many at once, each operation judged alone; one JSON
--   answer per operation
-- locks in order: kv (ns, key); names in the order of their keys, so the operations of a call name different ones
-- raises: LS425 isolation_not_supported
-- idempotent how: see _lock_acquire, _lock_renew, _lock_release
-- index used: kv_pkey
create or replace function lockstep.lock_joined(
  p_call int[], p_pos int[], p_op text[], p_name text[], p_ttl bigint[], p_owner text[], p_limit int[], p_token bigint[], p_slot int[])
returns table (call_no int, pos int, answer text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_row record;
  v_got record;
  v_token bigint;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  for v_row in
    select u.* from unnest(p_call, p_pos, p_op, p_name, p_ttl, p_owner, p_limit, p_token, p_slot)
                    u(call, pos, op, name, ttl, owner, lim, token, slot)
     order by (u.name || '#') collate "C", u.call, u.pos
  loop
    call_no := v_row.call;
    pos := v_row.pos;
    if v_row.op = 'acquire' then
      v_got := lockstep._lock_acquire(v_row.name, v_row.ttl, v_row.owner, v_row.lim);
      answer := case
        when v_got.reason is null then '{"done":true,"slot":' || v_got.slot || ',"token":' || v_got.token || '}'
        when v_got.reason = 'already' then '{"done":true,"already":true,"slot":' || v_got.slot || ',"token":' || v_got.token || '}'
        else '{"done":false,"reason":"' || v_got.reason || '","holders":' || lockstep._lock_holders(v_row.name) || '}' end;
    elsif v_row.op = 'get' then
      v_now := lockstep.clock();
      select '{"done":true,"holders":' || coalesce(json_agg(json_build_object('slot', p.slot, 'owner', p.owner, 'token', p.token,
               'since', p.since, 'expiresAt', p.expires_at, 'renewedAt', p.renewed_at) order by p.slot), '[]'::json)::text || '}'
        into answer from lockstep._lock_permits(v_row.name, v_now) p;
    elsif v_row.op = 'renew' then
      v_token := lockstep._lock_renew(v_row.name, v_row.slot, v_row.token, v_row.owner, v_row.ttl);
      answer := case when v_token is not null then '{"done":true,"slot":' || v_row.slot || ',"token":' || v_token || '}'
        else '{"done":false,"reason":"lost","holders":' || lockstep._lock_holders(v_row.name) || '}' end;
    else
      answer := case when lockstep._lock_release(v_row.name, v_row.slot, v_row.token)
        then '{"done":true,"slot":' || v_row.slot || '}'
        else '{"done":false,"reason":"lost","holders":' || lockstep._lock_holders(v_row.name) || '}' end;
    end if;
    return next;
  end loop;
end
$$;
