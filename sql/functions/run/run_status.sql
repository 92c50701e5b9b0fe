-- purpose: what became of a run; no row when there is none, yet or at all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_pkey
create or replace function lockstep.run_status(p_run uuid)
returns table (state text, workflow text, version text, output text, error text, attempt int, progress text, created_at text, finished_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select case when n.finished_at is not null then case n.state when 'done' then 'completed' else n.state end
                when n.state = 'compensating' then 'compensating'
                when exists (select 1 from node u where u.run_id = p_run and u.lease_expires_at > v_now) then 'running'
                when n.state = 'sleeping' then 'sleeping'
                when exists (select 1 from node u where u.run_id = p_run and u.attempt > 0) then 'running' else 'pending' end,
           n.workflow, n.version, n.output, n.error, n.attempt, n.progress, lockstep.instant_text(n.created_at),
           lockstep.instant_text(n.finished_at)
      from node n where n.run_id = p_run and n.ordinal = 0;
end
$$;
