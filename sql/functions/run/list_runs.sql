-- purpose: runs, newest first, by workflow, state and tag; a page at a time
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_run
-- p_before, p_before_run: created_at and id of the last one of the page before (exclusive). A state or tag is looked for among the newest 10,000.
create or replace function lockstep.list_runs(p_workflow text, p_state text, p_tag text, p_before timestamptz, p_before_run uuid, p_limit int)
returns table (run_id uuid, workflow text, kind text, state text, attempt int, tags text[], error text, created_at text, finished_at text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select r.run_id, r.workflow, r.kind, r.shown, r.attempt, r.tags, r.error, lockstep.instant_text(r.created_at),
           lockstep.instant_text(r.finished_at)
      from (select n.*, case when n.finished_at is not null then case n.state when 'done' then 'completed' else n.state end
                             when n.state = 'compensating' then 'compensating'
                             when n.lease_expires_at > v_now then 'running'
                             when n.state = 'sleeping' then 'sleeping'
                             when n.attempt > 0 or (n.kind = 'graph' and exists (
                               select 1 from node u where u.run_id = n.run_id and u.attempt > 0)) then 'running' else 'pending' end as shown
              from (select * from node f
                     where f.ordinal = 0 and (p_workflow is null or f.workflow = p_workflow)
                       and f.created_at <= coalesce(p_before, 'infinity')
                       and (p_before is null or (f.created_at, f.run_id) < (p_before, p_before_run))
                     order by f.created_at desc, f.run_id desc
                     limit case when p_state is null and p_tag is null then p_limit else 10000 end) n) r
     where (p_state is null or r.shown = p_state) and (p_tag is null or p_tag = any (r.tags))
     order by r.created_at desc, r.run_id desc
     limit p_limit;
end
$$;
