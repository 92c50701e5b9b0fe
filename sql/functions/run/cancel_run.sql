-- purpose: cancels a run and all of it that has not settled; its workers lose their tokens
-- locks in order: node (run; node 0 first, then by ordinal)
-- raises: LS425 isolation_not_supported
-- idempotent how: a settled run answers its state and is left as it is
-- index used: node_pkey
-- A completion that holds the run's node first wins; this sees what it left. Its child runs are cancelled by the caller, each in a
-- call of its own.
create or replace function lockstep.cancel_run(p_run uuid, p_reason text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_root node;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  select * into v_root from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  if not found then
    return 'not_found';
  end if;
  if v_root.finished_at is not null then
    return v_root.state;
  end if;
  perform 1 from node n where n.run_id = p_run and n.ordinal > 0 and n.finished_at is null order by n.ordinal for no key update;
  v_now := lockstep.clock();
  perform lockstep._drop_nodes(p_run, v_now);
  update node n
     set state = 'cancelled', finished_at = v_now, available_at = null, lease_id = null, lease_expires_at = null,
         error = json_build_object('code', 'cancelled', 'message', coalesce(p_reason, 'the run was cancelled'))::text
   where n.run_id = p_run and n.ordinal = 0;
  perform lockstep._tell_parent(v_root, v_now), lockstep._touch_limit(v_root, v_now);
  perform lockstep._audit('cancel_run', json_build_object('run', p_run, 'reason', left(p_reason, 256)), json_build_object('cancelled', true));
  return 'cancelled';
end
$$;
