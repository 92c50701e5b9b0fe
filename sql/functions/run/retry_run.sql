-- purpose: starts a failed or cancelled run again where it stopped: done nodes stay done
-- locks in order: the runs that it started, each like itself; then node (run; node 0 first, then by ordinal)
-- raises: LS425 isolation_not_supported
-- idempotent how: a run that runs or is done answers that and is left as it is
-- index used: node_pkey, step_pkey
-- What was undone is not done again under the same keys: a run whose compensations are done is left as it is, one that stopped
-- while it undid goes on undoing. A deadline that has passed is lifted. Runs that it started and that failed go on in this same
-- commit, or it would find them failed again.
create or replace function lockstep.retry_run(p_run uuid) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_root node;
  v_now timestamptz;
  v_child uuid;
begin
  perform lockstep._demand_read_committed();
  for v_child in
    select s.output::uuid from step s
     where s.run_id = p_run and s.state = 'called'
       and exists (select 1 from node n where n.run_id = p_run and n.ordinal = 0 and n.state in ('failed', 'cancelled'))
     order by 1
  loop
    perform lockstep.retry_run(v_child);
  end loop;
  select * into v_root from node n where n.run_id = p_run and n.ordinal = 0 for no key update;
  if not found then
    return 'not_found';
  end if;
  if v_root.state not in ('failed', 'cancelled') then
    return case when v_root.finished_at is null then 'running' else v_root.state end;
  end if;
  perform 1 from node n where n.run_id = p_run and n.ordinal > 0 order by n.ordinal for no key update;
  v_now := lockstep.clock();
  if exists (select 1 from node n where n.run_id = p_run and n.kind = 'compensation') then
    update node n
       set state = case u.nth when 1 then 'planned' else 'waiting' end, want = case u.nth when 1 then n.action end, finished_at = null,
           error = null, lease_id = null, failures = 0, crashes = 0, filed = false, available_at = case u.nth when 1 then v_now end,
           waiting = least(u.nth - 1, 1), children = array[coalesce(u.next, 0)]
      from (select c.ordinal, row_number() over (order by c.ordinal) as nth, lead(c.ordinal) over (order by c.ordinal) as next
              from node c where c.run_id = p_run and c.kind = 'compensation' and c.state in ('failed', 'cancelled')) u
     where n.run_id = p_run and n.ordinal = u.ordinal;
    if not found then
      return v_root.state;
    end if;
    update node n set state = 'compensating', finished_at = null, waiting = 1, error = (n.error::jsonb - 'compensation')::text
     where n.run_id = p_run and n.ordinal = 0;
    return 'compensating';
  end if;
  -- Calls that failed in the claim of their code have no node.
  delete from step s where s.run_id = p_run and s.state = 'failed';
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
         deadline = case when n.deadline > v_now then n.deadline end,
         state = case when n.kind = 'graph' then 'waiting' else 'planned' end,
         available_at = case when n.kind <> 'graph' then v_now end,
         waiting = case when n.kind = 'graph' then (
           select count(*) from node b where b.run_id = p_run and b.ordinal > 0 and 0 = any (b.children) and b.finished_at is null) else 0 end
   where n.run_id = p_run and n.ordinal = 0;
  return 'running';
end
$$;
