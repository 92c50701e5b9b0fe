-- purpose: ends a graph run whose last node settled: done, or failed when it was compensating
-- locks in order: node (0 of the parent run)
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey, workflow_version_pkey
-- Errors and shapes are our own JSON; no payload comes near these functions.
create or replace function lockstep._end_graph(p_root node, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_root.state = 'compensating' then
    update node n
       set state = 'failed', finished_at = p_now, available_at = null,
           error = (n.error::jsonb || jsonb_build_object('compensation', case when exists (
             select 1 from node c where c.run_id = n.run_id and c.kind = 'compensation' and c.state <> 'done')
             then 'incomplete' else 'complete' end))::text
     where n.run_id = p_root.run_id and n.ordinal = 0;
  elsif p_root.input is not null and (select w.shape::json ->> 'output' from workflow_version w
         where w.name = p_root.workflow and w.version = p_root.version) = 'true' and p_root.output is null then
    -- Its output is a function of its nodes' outputs: a planner computes it.
    update node n set state = 'ready', want = 'plan:' || n.workflow || '@' || n.version, available_at = p_now
     where n.run_id = p_root.run_id and n.ordinal = 0;
    return;
  else
    update node n set state = 'done', finished_at = p_now, available_at = null where n.run_id = p_root.run_id and n.ordinal = 0;
  end if;
  perform lockstep._tell_parent(p_root, p_now);
end
$$;
