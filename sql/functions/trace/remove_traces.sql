-- purpose: forgets traces older than a week, a bounded number at a time
-- locks in order: none (SKIP LOCKED)
-- raises: nothing
-- idempotent how: what is gone is gone
-- index used: trace_age, trace_pkey, trace_name_pkey
create or replace function lockstep.remove_traces(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_before timestamptz := lockstep.clock() - interval '7 days';
  v_count int;
begin
  with old as (
    select t.partition_id, t.tx_hash, t.id, t.names from trace t where t.created_at < v_before
     order by t.created_at limit p_limit for no key update skip locked
  ), unnamed as (
    delete from trace_name n using (select o.id, unnest(o.names) as name from old o) d where n.name = d.name and n.id = d.id
  )
  delete from trace t using old o where t.partition_id = o.partition_id and t.tx_hash = o.tx_hash and t.id = o.id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
