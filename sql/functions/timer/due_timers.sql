-- purpose: timers whose time has come, in its order, behind a place; a last row without key tells the clock, and after a page
--   that is not full how long there is until the next one
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: timer_due
-- p_floor is a clock told by an earlier call: the entries of what fired before it are not stepped over again.
create or replace function lockstep.due_timers(
  p_floor timestamptz, p_after timestamptz, p_after_queue text, p_after_key text, p_limit int)
returns table (queue text, key text, at text, wait_ms bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_count int;
  v_next timestamptz;
begin
  return query
    select t.queue_name, t.key, lockstep.instant_text(t.fire_at), null::bigint from timer t
     where t.fire_at >= p_floor and t.fire_at <= v_now and (t.fire_at, t.queue_name, t.key) > (p_after, p_after_queue, p_after_key)
     order by t.fire_at, t.queue_name, t.key limit p_limit;
  get diagnostics v_count = row_count;
  if v_count < p_limit then
    select t.fire_at into v_next from timer t where t.fire_at > v_now order by t.fire_at limit 1;
  end if;
  return query
    select null::text, null::text, lockstep.instant_text(v_now),
           case when isfinite(v_next) then ceil(extract(epoch from v_next - v_now) * 1000)::bigint end;
end
$$;
