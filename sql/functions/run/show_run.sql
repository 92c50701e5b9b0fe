-- purpose: what became of a run; when there is none, why: its transaction is open (uncommitted), was rolled back, or unknown
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_pkey
-- occurrence: the instant of the slot that a schedule started the run for. p_xid: the id of the transaction that submitted it, null when not known. Only a hint for people.
create or replace function lockstep.show_run(p_run uuid, p_xid text)
returns table (missing text, state text, kind text, workflow text, version text, output text, error text, attempt int, progress text,
               priority int, tags text[], run_key text, created_at text, finished_at text, occurrence text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_xact text;
  v_found boolean;
begin
  for i in 1 .. 2 loop
    -- What changes is read in one statement, inside run_status; the node gives what never does.
    return query
      select null::text, s.state, n.kind, s.workflow, s.version, s.output, s.error, s.attempt, s.progress, n.priority::int, n.tags, n.run_key,
             s.created_at, s.finished_at, lockstep.instant_text(n.occurrence)
        from lockstep.run_status(p_run) s
       cross join lateral (select * from node u where u.run_id = p_run and u.ordinal = 0 limit 1) n;
    v_found := found;
    exit when v_found or v_xact = 'committed' or p_xid is null;
    v_xact := pg_xact_status(p_xid::xid8);
    -- Committed meanwhile: one more look, in a later statement.
    exit when v_xact is distinct from 'committed';
  end loop;
  if not v_found then
    missing := case when v_xact = 'in progress' then 'uncommitted' when v_xact in ('aborted', 'committed') then 'rolled_back' else 'unknown' end;
    return next;
  end if;
end
$$;
