-- purpose: makes plain jobs of one action and one policy, many in one call
-- locks in order: none
-- raises: 25006 in a read-only transaction; 23505 when the same id is being made in another open transaction that then commits
-- idempotent how: a repeat of an id changes nothing
-- index used: node_pkey
-- The commonest submission (no key, no tags, no deadline, no limit). Whether an id is known is looked up for all at once, which
-- costs nothing for fresh ones, instead of row by row with "on conflict": that was a fifth of the insert.
create or replace function lockstep.enqueue_joined(
  p_id uuid[], p_input text[], p_action text, p_priority int, p_delay_ms bigint, p_max_attempts int, p_backoff_ms bigint,
  p_backoff_max_ms bigint) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_id uuid[] := p_id;
  v_input text[] := p_input;
begin
  if exists (select 1 from node n where n.run_id = any (p_id) and n.ordinal = 0) then
    select array_agg(i.id), array_agg(i.input) into v_id, v_input
      from unnest(p_id, p_input) i(id, input)
     where not exists (select 1 from node n where n.run_id = i.id and n.ordinal = 0);
  end if;
  v_now := lockstep.clock();
  insert into node (run_id, ordinal, name, kind, action, state, want, priority, available_at, max_attempts, backoff_ms, backoff_max_ms,
                    input, created_at, workflow)
    select i.id, 0, p_action, 'job', p_action, 'planned', p_action, p_priority, v_now + make_interval(secs => p_delay_ms / 1000.0),
           p_max_attempts, p_backoff_ms, p_backoff_max_ms, i.input, v_now, p_action
      from unnest(v_id, v_input) i(id, input);
end
$$;
