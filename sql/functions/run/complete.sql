-- purpose: finishes one node as the last statement before COMMIT of the transaction that holds the handler's own writes
-- locks in order: as complete_joined
-- raises: LS423 lease_lost, so that the COMMIT that follows becomes a rollback; LS425 isolation_not_supported
-- idempotent how: the token fences it
-- index used: node_pkey
-- Text in, text out, so that every library carries it: {"ready":[ordinal…],"taken":[ordinal…],"ended":bool}.
create or replace function lockstep.complete(
  p_run uuid, p_ordinal int, p_lease_id text, p_output text, p_plan_ordinal int[], p_plan_input text[], p_take boolean[],
  p_take_lease text, p_take_ms bigint) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_done record;
  v_node record;
  v_now timestamptz;
begin
  if p_ordinal = 0 then
    -- The commonest case by far, a job, in as few statements as it takes: each costs anew in every transaction.
    perform lockstep._demand_read_committed();
    select n.lease_id, n.lease_expires_at, n.limit_key, n.parent_run into v_node from node n
     where n.run_id = p_run and n.ordinal = 0 for no key update;
    v_now := lockstep.clock();
    if v_node.lease_id = p_lease_id and v_node.lease_expires_at > v_now and v_node.limit_key is null and v_node.parent_run is null then
      update node n set state = 'done', output = p_output, available_at = null, lease_expires_at = null, finished_at = v_now
       where n.run_id = p_run and n.ordinal = 0;
      return '{"ready":[],"taken":[],"ended":true}';
    end if;
  end if;
  select * into v_done
    from lockstep.complete_joined(array[p_run], array[p_ordinal], array[p_lease_id], array[p_output],
      array_fill(1, array[cardinality(p_plan_ordinal)]), p_plan_ordinal, p_plan_input, p_take, p_take_lease, p_take_ms);
  if v_done.verdict <> 'ok' then
    raise exception using errcode = 'LS423', detail = 'lease_lost',
      message = 'the lease of this step was lost: nothing of it was committed';
  end if;
  return json_build_object('ready', v_done.ready_ordinals, 'taken', v_done.taken_ordinals, 'ended', v_done.run_ended)::text;
end
$$;
