-- purpose: removes runs that ended longer ago than their workflow keeps them, a bounded stretch of ids and of rows per call
-- locks in order: node (SKIP LOCKED, then deleted), step, signal, run_key
-- raises: nothing
-- idempotent how: what is gone is gone
-- index used: node_pkey
-- Ids begin with their time, so the walk goes from old to young. Answers where to go on; null: the end was reached.
-- Unless the workflow says otherwise, completed runs are kept 30 days and others 90; a run that another started, as long as that.
create or replace function lockstep.remove_runs(p_after uuid, p_limit int, p_rows int default 20000, out last uuid, out removed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_runs uuid[];
  v_over uuid[];
  v_gone uuid[] := '{}';
  v_run uuid;
  v_rows bigint := 0;
  v_full boolean := false;
begin
  select array_agg(n.run_id order by n.run_id) into v_runs
    from (select u.run_id from node u where u.run_id > p_after and u.ordinal = 0 order by u.run_id limit p_limit) n;
  select coalesce(array_agg(n.run_id order by n.run_id), '{}') into v_over
    from unnest(v_runs) i(run_id)
   cross join lateral (select * from node u where u.run_id = i.run_id and u.ordinal = 0 limit 1) n
    left join lateral (
      select (w.shape::json ->> 'keepMs')::bigint as keep_ms, (w.shape::json ->> 'keepFailedMs')::bigint as keep_failed_ms
        from workflow_version w where w.name = n.workflow and w.version = coalesce(n.version, '') limit 1) k on true
   where n.finished_at < v_now - make_interval(secs => case when n.state = 'done' then coalesce(k.keep_ms, 2592000000)
                                                            else coalesce(k.keep_failed_ms, 7776000000) end / 1000.0)
     -- Code that runs again asks for what its children brought: gone, they would be started anew.
     and not exists (select 1 from node p where p.run_id = n.parent_run and p.ordinal = 0);
  -- A run that is being retried is not over: it is looked at again under its lock, or left for the next walk.
  foreach v_run in array v_over loop
    perform 1 from node n where n.run_id = v_run and n.ordinal = 0 and n.finished_at is not null for no key update skip locked;
    if found then
      v_gone := v_gone || v_run;
      v_rows := v_rows + (select count(*) from node n where n.run_id = v_run) + (select count(*) from step s where s.run_id = v_run)
        + (select count(*) from signal s where s.run_id = v_run);
      -- A run may have very many: a call deletes no more than come with the one that fills it.
      v_full := v_rows >= p_rows;
      exit when v_full;
    end if;
  end loop;
  removed := cardinality(v_gone);
  last := case when v_full then v_run when cardinality(v_runs) = p_limit then v_runs[p_limit] end;
  delete from run_key k using node n
   where n.run_id = any (v_gone) and n.ordinal = 0 and k.workflow = n.workflow and k.key = n.run_key and k.run_id = n.run_id;
  delete from step s where s.run_id = any (v_gone);
  delete from signal s where s.run_id = any (v_gone);
  delete from node n where n.run_id = any (v_gone);
end
$$;
