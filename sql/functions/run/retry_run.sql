-- purpose: starts a failed or cancelled run again where it stopped: done nodes stay done
-- locks in order: node (run; node 0 first, then by ordinal)
-- raises: LS425 isolation_not_supported
-- idempotent how: a run that runs or is done answers that and is left as it is
-- index used: node_pkey
create or replace function lockstep.retry_run(p_run uuid) returns text
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
  if v_root.state not in ('failed', 'cancelled') then
    return case when v_root.finished_at is null then 'running' else v_root.state end;
  end if;
  perform 1 from node n where n.run_id = p_run and n.ordinal > 0 order by n.ordinal for no key update;
  v_now := lockstep.clock();
  delete from node n where n.run_id = p_run and n.kind = 'compensation';
  update node n
     set state = 'waiting', finished_at = null, error = null, lease_id = null, failures = 0, crashes = 0, available_at = null, filed = false,
         waiting = (select count(*) from node b where b.run_id = p_run and n.ordinal = any (b.children) and b.state not in ('done', 'skipped'))
   where n.run_id = p_run and n.ordinal > 0 and n.state in ('failed', 'cancelled');
  update node n
     set state = case when n.input is not null then 'planned' else 'ready' end, available_at = v_now,
         want = case when n.input is not null then n.action else 'plan:' || v_root.workflow || '@' || v_root.version end
   where n.run_id = p_run and n.ordinal > 0 and n.state = 'waiting' and n.waiting = 0;
  update node n
     set finished_at = null, error = null, lease_id = null, failures = 0, crashes = 0, filed = false,
         state = case when n.kind = 'graph' then 'waiting' else 'planned' end,
         available_at = case when n.kind <> 'graph' then v_now end,
         waiting = case when n.kind = 'graph' then (
           select count(*) from node b where b.run_id = p_run and b.ordinal > 0 and 0 = any (b.children) and b.finished_at is null) else 0 end
   where n.run_id = p_run and n.ordinal = 0;
  return 'running';
end
$$;
