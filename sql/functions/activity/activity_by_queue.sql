-- purpose: what was done per queue in the last minutes, the busiest first
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: activity_minute
create or replace function lockstep.activity_by_queue(p_minutes int default 60, p_limit int default 100)
returns table (queue text, pushed bigint, delivered bigint, acked bigint, failed bigint)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_from timestamptz := lockstep.clock() - make_interval(mins => p_minutes);
begin
  return query
    select a.queue, sum(a.pushed)::bigint, sum(a.delivered)::bigint, sum(a.acked)::bigint, sum(a.failed)::bigint
      from activity a where a.minute > v_from
     group by a.queue order by sum(a.pushed + a.delivered) desc, a.queue limit p_limit;
end
$$;
