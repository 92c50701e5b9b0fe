-- purpose: what a run of code has done already: its steps, sleeps and waits, and the nodes it called
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: step_pkey, node_pkey
-- due: of a sleep or a wait: its end has come, by this database's clock.
create or replace function lockstep.run_history(p_run uuid)
returns table (name text, state text, due boolean, ordinal int, output text, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  return query
    select s.name, s.state, s.due_at <= v_now, null::int, s.output, null::text from step s where s.run_id = p_run
    union all
    select n.name, n.state, null, n.ordinal, n.output, n.error from node n where n.run_id = p_run and n.ordinal > 0 and n.kind = 'call';
end
$$;
