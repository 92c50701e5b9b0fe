-- purpose: removes at most 1,000 dead letters that are older than deadLetterRetentionSeconds, of the next queue by id after p_after;
--   null queue: no later one has such a bound
-- locks in order: dead letter, by SKIP LOCKED only
-- raises: nothing
-- idempotent how: what somebody replays or purges at this instant is left to him
-- index used: queue_pkey, dead_letter_time, dead_letter_pkey
create or replace function lockstep.expire_dead_letters(p_after int, out queue_id int, out removed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_id int;
  v_seconds bigint;
  v_before timestamptz;
  v_ids uuid[];
begin
  removed := 0;
  select q.id, q.dead_letter_retention_seconds into v_id, v_seconds from queue q
   where q.id > p_after and q.deleted_at is null and q.dead_letter_retention_seconds > 0 order by q.id limit 1;
  queue_id := v_id;
  if v_id is null then
    return;
  end if;
  v_before := lockstep.clock() - make_interval(secs => v_seconds);
  v_ids := array(
    select d.id from dead_letter d where d.queue_id = v_id and d.failed_at < v_before
     order by d.failed_at limit 1000 for update skip locked);
  delete from dead_letter d where d.queue_id = v_id and d.id = any (v_ids);
  get diagnostics removed = row_count;
end
$$;
