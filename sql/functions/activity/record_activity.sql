-- purpose: adds what one broker did since its last report to the minute that is now, queue by queue
-- locks in order: activity (queue, minute)
-- raises: nothing
-- idempotent how: not: counts for people, a repeat counts twice
-- index used: activity_pkey
create or replace function lockstep.record_activity(
  p_queue text[], p_pushed bigint[], p_delivered bigint[], p_acked bigint[], p_failed bigint[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_minute timestamptz := date_trunc('minute', lockstep.clock(), 'UTC');
begin
  insert into activity as a (queue, minute, pushed, delivered, acked, failed)
    select i.queue, v_minute, i.pushed, i.delivered, i.acked, i.failed
      from unnest(p_queue, p_pushed, p_delivered, p_acked, p_failed) i(queue, pushed, delivered, acked, failed)
     order by i.queue collate "C"
    on conflict (queue, minute) do update
      set pushed = a.pushed + excluded.pushed, delivered = a.delivered + excluded.delivered,
          acked = a.acked + excluded.acked, failed = a.failed + excluded.failed;
end
$$;
