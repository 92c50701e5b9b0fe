-- purpose: the ids of live queues by name, aligned with the names; a missing queue is made with the implicit defaults
-- locks in order: queue (only where one is made)
-- raises: nothing
-- idempotent how: a queue that exists is found, two makers meet on the live name
-- index used: queue_live_name
create or replace function lockstep._open_queues(p_names text[]) returns int[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_ids int[];
  v_missing text[];
  v_now timestamptz;
begin
  loop
    select array_agg(q.id order by n.ord), array_agg(n.name order by n.ord) filter (where q.id is null)
      into v_ids, v_missing
      from unnest(p_names) with ordinality n(name, ord)
      left join queue q on q.name = n.name and q.deleted_at is null;
    if v_missing is null then
      return v_ids;
    end if;
    v_now := lockstep.clock();
    -- A dotted name carries its namespace and task: a.b.c is namespace a, task b.
    insert into queue (name, namespace, task, created_at, lease_seconds)
      select n, case when strpos(n, '.') > 0 then split_part(n, '.', 1) else '' end, split_part(n, '.', 2), v_now, 60 -- LIMITS.leaseSecondsImplicitDefault
        from unnest(v_missing) n
       order by n collate "C"
      on conflict (name) where deleted_at is null do nothing;
  end loop;
end
$$;
