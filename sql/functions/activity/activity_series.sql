-- purpose: what was done per bucket of whole minutes between two instants; of one queue, or of all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: activity_minute, activity_pkey
-- p_from null: an hour before p_to; p_to null: now. Buckets in which nothing was done are answered with zeros.
create or replace function lockstep.activity_series(
  p_from timestamptz default null, p_to timestamptz default null, p_bucket_minutes int default 1, p_queue text default null)
returns table (bucket text, pushed bigint, delivered bigint, acked bigint, failed bigint)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_step interval := make_interval(mins => p_bucket_minutes);
  v_to timestamptz := coalesce(p_to, lockstep.clock());
  v_from timestamptz := date_bin(v_step, coalesce(p_from, v_to - interval '1 hour'), timestamptz '2000-01-01 00:00:00Z');
begin
  return query
    select lockstep.instant_text(s.at), coalesce(sum(a.pushed), 0)::bigint, coalesce(sum(a.delivered), 0)::bigint,
           coalesce(sum(a.acked), 0)::bigint, coalesce(sum(a.failed), 0)::bigint
      from (select g as at from generate_series(v_from, v_to, v_step) g limit 10000) s
      left join activity a on a.minute >= s.at and a.minute < s.at + v_step and (p_queue is null or a.queue = p_queue)
     group by s.at
     order by s.at;
end
$$;
