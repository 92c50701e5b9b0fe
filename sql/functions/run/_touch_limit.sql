-- purpose: makes the limit of a node that stopped running due, so that the next waiting one starts
-- locks in order: limit
-- raises: nothing
-- idempotent how: under the nodes' locks
-- index used: run_limit_pkey
-- least() ignores null: a limit at rest becomes due now.
create or replace function lockstep._touch_limit(p_node node, p_now timestamptz) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_node.limit_key is not null then
    update run_limit l set available_at = least(l.available_at, p_now) where l.want = p_node.want and l.key = p_node.limit_key;
  end if;
end
$$;
