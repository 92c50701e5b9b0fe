-- purpose: locks due nodes of one want and priority that nobody holds, for the caller to lease; files those that have a limit, fails
--   those whose workers died too often
-- locks in order: node (SKIP LOCKED), limit (only to file)
-- raises: nothing
-- idempotent how: locks only, but for what it files and fails
-- index used: node_ready, node_pkey
create or replace function lockstep._claim_ready(
  p_want text, p_priority int, p_floor timestamptz, p_now timestamptz, p_limit int,
  out runs uuid[], out ordinals int[], out oldest timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_runs uuid[];
  v_ordinals int[];
  v_odd boolean;
  v_node node;
begin
  runs := '{}';
  ordinals := '{}';
  select array_agg(d.run_id order by d.available_at), array_agg(d.ordinal order by d.available_at), min(d.available_at),
         bool_or(d.lease_id is not null or d.limit_key is not null)
    into v_runs, v_ordinals, oldest, v_odd
    from (select n.run_id, n.ordinal, n.available_at, n.lease_id, n.limit_key from node n
           where n.want = p_want and n.priority = p_priority and not n.filed and n.available_at >= p_floor and n.available_at <= p_now
             and (n.lease_expires_at is null or n.lease_expires_at <= p_now)
           order by n.available_at limit p_limit for no key update skip locked) d;
  if v_runs is null then
    return;
  end if;
  if v_odd then
    -- The few that need a judgement each: limited or lapsed.
    for v_node in
      select n.* from unnest(v_runs, v_ordinals) i(run_id, ordinal)
       cross join lateral (select * from node u where u.run_id = i.run_id and u.ordinal = i.ordinal limit 1) n
    loop
      if v_node.lease_id is not null and v_node.crashes + 1 > v_node.crash_limit then
        perform lockstep._bury_node(v_node, p_now);
      elsif v_node.limit_key is not null and v_node.state <> 'ready' then
        perform lockstep._file_node(v_node, p_now);
      else
        runs := runs || v_node.run_id;
        ordinals := ordinals || v_node.ordinal;
      end if;
    end loop;
  else
    runs := v_runs;
    ordinals := v_ordinals;
  end if;
end
$$;
