-- purpose: writes the token on nodes that the caller holds and has judged; jobs in one set, other nodes by key
-- locks in order: none beyond the nodes that the caller holds
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: node_pkey
-- Nothing that an index has changes on a node without a limit: it stays at its place among the due ones, where others pass it by
-- while its lease lives, until the first heartbeat moves it to the lease's end.
create or replace function lockstep._lease_nodes(p_runs uuid[], p_ordinals int[], p_lease_id text, p_lease_ms bigint, p_now timestamptz)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_end timestamptz := p_now + make_interval(secs => p_lease_ms / 1000.0);
  v_jobs uuid[] := array(select i.run_id from unnest(p_runs, p_ordinals) i(run_id, ordinal) where i.ordinal = 0);
begin
  if cardinality(v_jobs) > 0 then
    update node n
       set lease_id = p_lease_id, lease_expires_at = v_end, attempt = n.attempt + 1,
           available_at = case when n.limit_key is null then n.available_at else v_end end,
           crashes = n.crashes + (n.lease_id is not null)::int
     where n.run_id = any (v_jobs) and n.ordinal = 0;
  end if;
  if cardinality(v_jobs) < cardinality(p_runs) then
    update node n
       set lease_id = p_lease_id, lease_expires_at = v_end, attempt = n.attempt + 1,
           available_at = case when n.limit_key is null then n.available_at else v_end end,
           crashes = n.crashes + (n.lease_id is not null)::int
      from unnest(p_runs, p_ordinals) i(run_id, ordinal)
     where i.ordinal > 0 and n.run_id = i.run_id and n.ordinal = i.ordinal;
  end if;
end
$$;
