-- purpose: ends many jobs in one set, each fenced by its token; those with a parent or a limit are seen to one by one
-- locks in order: limit; the caller holds the nodes
-- raises: nothing
-- idempotent how: the token fences it; a repeat under the same token answers ok and changes nothing
-- index used: node_pkey
create or replace function lockstep._complete_runs(p_run uuid[], p_lease_id text[], p_output text[], p_now timestamptz)
returns table (nth int, verdict text, ready_ordinals int[], taken_ordinals int[], run_ended boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_done uuid[];
  v_node node;
begin
  with done as (
    update node n
       set state = 'done', output = p_output[array_position(p_run, n.run_id)], available_at = null, lease_expires_at = null,
           finished_at = p_now
     where n.run_id = any (p_run) and n.ordinal = 0 and n.lease_id = p_lease_id[array_position(p_run, n.run_id)]
       and n.lease_expires_at > p_now
    returning n.run_id
  )
  select coalesce(array_agg(d.run_id), '{}') into v_done from done d;
  for v_node in
    select * from node n where n.run_id = any (v_done) and n.ordinal = 0 and (n.limit_key is not null or n.parent_run is not null)
  loop
    perform lockstep._touch_limit(v_node, p_now), lockstep._tell_parent(v_node, p_now);
  end loop;
  return query
    select i.ord::int,
           case when i.run_id = any (v_done) or exists (
             select 1 from node n where n.run_id = i.run_id and n.ordinal = 0 and n.state = 'done' and n.lease_id = i.lease_id)
           then 'ok' else 'lease_lost' end, '{}'::int[], '{}'::int[], i.run_id = any (v_done)
      from unnest(p_run, p_lease_id) with ordinality i(run_id, lease_id, ord);
end
$$;
