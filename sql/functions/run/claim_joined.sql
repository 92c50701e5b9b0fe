-- purpose: leases due nodes to a worker: for each thing it knows, by priority and age, and from the limits that have room
-- locks in order: node (SKIP LOCKED), limit (SKIP LOCKED) then node (SKIP LOCKED)
-- raises: LS425 isolation_not_supported
-- idempotent how: each call leases under a new token; an unanswered one lapses and is claimed again
-- index used: node_ready, node_filed, run_limit_due, node_limited
-- One row per leased node, then one of ordinal -1: attempt = milliseconds until something here is due, null when nothing is;
-- node_input = the floor for the next call. fresh: code that has recorded nothing yet. occurrence: the slot that a schedule
-- started the run for.
-- Nothing that an index has changes on a leased node without a limit: it stays at its place among the due ones, where others pass
-- it by while its lease lives, until the first heartbeat moves it to the lease's end. What is leased is answered by the update
-- itself: reading it again cost a third of the claim.
create or replace function lockstep.claim_joined(
  p_wants text[], p_lease_id text, p_lease_ms bigint, p_max int, p_floor timestamptz)
returns table (run_id uuid, ordinal int, node_name text, want text, attempt int, node_input text, workflow text, version text,
               run_input text, max_attempts int, failures int, fresh boolean, occurrence text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_left int := p_max;
  v_want text;
  v_priority int;
  v_oldest timestamptz := 'infinity';
  v_runs uuid[] := '{}';
  v_ordinals int[] := '{}';
  v_claim record;
  v_next timestamptz;
  v_end timestamptz;
begin
  perform lockstep._demand_read_committed();
  v_now := lockstep.clock();
  foreach v_want in array p_wants loop
    v_priority := 32767;
    loop
      exit when v_left <= 0;
      select n.priority into v_priority from node n
       where n.want = v_want and n.available_at is not null and not n.filed and n.priority < v_priority
       order by n.priority desc limit 1;
      exit when not found;
      v_claim := lockstep._claim_ready(v_want, v_priority, p_floor, v_now, v_left);
      v_runs := v_runs || v_claim.runs;
      v_ordinals := v_ordinals || v_claim.ordinals;
      v_oldest := least(v_oldest, v_claim.oldest);
      v_left := v_left - cardinality(v_claim.runs);
    end loop;
  end loop;
  v_end := v_now + make_interval(secs => p_lease_ms / 1000.0);
  if v_left < p_max then
    return query
      with leased as (
        update node n
           set lease_id = p_lease_id, lease_expires_at = v_end, attempt = n.attempt + 1,
               available_at = case when n.limit_key is null then n.available_at else v_end end,
               crashes = n.crashes + (n.lease_id is not null)::int
          from unnest(v_runs, v_ordinals) i(run_id, ordinal)
         where n.run_id = i.run_id and n.ordinal = i.ordinal
        returning n.run_id, n.ordinal, n.name, n.want, n.attempt, n.input, n.kind, n.workflow, n.version, n.occurrence, n.max_attempts,
                  n.failures
      )
      select n.run_id, n.ordinal, n.name, n.want, n.attempt, n.input, coalesce(n.workflow, r.workflow), coalesce(n.version, r.version),
             r.input, n.max_attempts, n.failures,
             n.kind <> 'flow' or not exists (select 1 from step s where s.run_id = n.run_id)
               and not exists (select 1 from node c where c.run_id = n.run_id and c.ordinal = 1),
             lockstep.instant_text(coalesce(n.occurrence, r.occurrence))
        from leased n
        left join lateral (select u.workflow, u.version, u.input, u.occurrence from node u
                            where n.ordinal > 0 and u.run_id = n.run_id and u.ordinal = 0 limit 1) r on true;
  end if;
  if v_left > 0 then
    v_claim := lockstep._claim_limited(p_wants, v_now, v_left, p_lease_id, p_lease_ms);
    v_left := v_left - cardinality(v_claim.runs);
    return query
      select n.run_id, n.ordinal, n.name, n.want, n.attempt, n.input, r.workflow, r.version,
             case when n.ordinal > 0 then r.input end, n.max_attempts, n.failures,
             n.kind <> 'flow' or not exists (select 1 from step s where s.run_id = n.run_id)
               and not exists (select 1 from node c where c.run_id = n.run_id and c.ordinal = 1),
             lockstep.instant_text(r.occurrence)
        from unnest(v_claim.runs, v_claim.ordinals) with ordinality i(run_id, ordinal, ord)
       cross join lateral (select * from node u where u.run_id = i.run_id and u.ordinal = i.ordinal limit 1) n
       cross join lateral (select u.workflow, u.version, u.input, u.occurrence from node u where u.run_id = i.run_id and u.ordinal = 0 limit 1) r
       order by i.ord;
  end if;
  if v_left = p_max then
    -- Only a hint: when the earliest of what waits here is due.
    select min(d.at) into v_next
      from unnest(p_wants) w(want)
     cross join lateral (
       (select n.available_at as at from node n
         where n.want = w.want and not n.filed and n.available_at > v_now order by n.priority desc, n.available_at limit 1)
       union all
       (select l.available_at from run_limit l where l.want = w.want and l.available_at > v_now order by l.available_at limit 1)) d;
  end if;
  return query
    select null::uuid, -1, null::text, null::text, (extract(epoch from least(v_next - v_now, interval '1 day')) * 1000)::int,
           lockstep.instant_text(least(v_oldest, v_now) - interval '1 second'), null::text, null::text, null::text, null::int, null::int,
           null::boolean, null::text;
end
$$;
