-- purpose: ends many jobs in one set, each fenced by its token, and answers which places had lost theirs; those with a parent or a
--   limit are seen to one by one
-- locks in order: limit; the caller holds the nodes
-- raises: nothing
-- idempotent how: the token fences it; a repeat under the same token answers ok and changes nothing
-- index used: node_pkey
-- Code whose calls have not all ended is among those that did not end: drop_calls comes first then.
create or replace function lockstep._complete_runs(p_run uuid[], p_lease_id text[], p_output text[], p_now timestamptz) returns int[]
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_done int[];
  v_odd boolean;
  v_node node;
begin
  with done as (
    update node n
       set state = 'done', output = i.output, available_at = null, lease_expires_at = null, finished_at = p_now
      from unnest(p_run, p_lease_id, p_output) with ordinality i(run_id, lease_id, output, ord)
     where n.run_id = i.run_id and n.ordinal = 0 and n.lease_id = i.lease_id and n.lease_expires_at > p_now
       and (n.kind <> 'flow' or not exists (
         select 1 from node c where c.run_id = n.run_id and c.ordinal > 0 and c.finished_at is null))
    returning i.ord, n.limit_key is not null or n.parent_run is not null as odd
  )
  select coalesce(array_agg(d.ord), '{}'), bool_or(d.odd) into v_done, v_odd from done d;
  if v_odd then
    for v_node in
      select n.* from unnest(v_done) d(ord)
       cross join lateral (select * from node u where u.run_id = p_run[d.ord] and u.ordinal = 0 limit 1) n
       where n.limit_key is not null or n.parent_run is not null
       order by n.parent_run
    loop
      perform lockstep._touch_limit(v_node, p_now), lockstep._tell_parent(v_node, p_now);
    end loop;
  end if;
  if cardinality(v_done) = cardinality(p_run) then
    return '{}';
  end if;
  return array(
    select i.ord::int from unnest(p_run, p_lease_id) with ordinality i(run_id, lease_id, ord)
     where i.ord <> all (v_done) and not exists (
       select 1 from node n where n.run_id = i.run_id and n.ordinal = 0 and n.state = 'done' and n.lease_id = i.lease_id));
end
$$;
