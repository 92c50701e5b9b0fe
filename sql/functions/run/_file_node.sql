-- purpose: hands a node with a limit over to its limit's row, which gives it out when there is room
-- locks in order: limit; the caller holds the node
-- raises: nothing
-- idempotent how: a filed node stays filed
-- index used: node_pkey, run_limit_pkey
create or replace function lockstep._file_node(p_node node, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  update node n set filed = true where n.run_id = p_node.run_id and n.ordinal = p_node.ordinal;
  insert into run_limit (want, key, max, interval_ms, available_at)
    values (p_node.want, p_node.limit_key, coalesce(p_node.limit_max, 2147483647), p_node.limit_interval_ms, p_now)
    on conflict (want, key) do update set max = excluded.max, interval_ms = excluded.interval_ms, available_at = excluded.available_at;
end
$$;
