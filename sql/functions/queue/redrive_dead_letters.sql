-- purpose: moves up to p_limit dead letters of a queue back, oldest first, each as redrive_dead_letter does, in one commit;
--   p_dry only counts them
-- locks in order: queue (key share), dead letter (SKIP LOCKED: what another call moves is left to it)
-- raises: LS425 isolation_not_supported
-- idempotent how: what was moved is gone; a copy still known is counted as kept and its row stays
-- index used: queue_live_name, dead_letter_time
-- Null filters match all. p_after is the next_after of the call before ('' at first): rows that were kept are passed by.
-- sealed: ids, each behind a space, that are kept for redrive_dead_letter by a process that has the keys. matched counts this
-- call's rows (all of the rest when p_dry); next_after is null at the end, or when there is no such queue.
create or replace function lockstep.redrive_dead_letters(
  p_queue text, p_group text default null, p_partition text default null, p_error text default null,
  p_from timestamptz default null, p_to timestamptz default null, p_limit int default 1000, p_dry boolean default false,
  p_after text default '', out matched bigint, out moved bigint, out kept bigint, out next_after text, out sealed text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_queue_id int;
  v_letter dead_letter;
  v_time timestamptz := coalesce(nullif(split_part(p_after, '|', 1), '')::timestamptz, '-infinity');
  v_id uuid := nullif(split_part(p_after, '|', 2), '')::uuid;
  v_result text;
begin
  perform lockstep._demand_read_committed();
  matched := 0; moved := 0; kept := 0; sealed := '';
  select q.id into v_queue_id from queue q where q.name = p_queue and q.deleted_at is null for key share;
  if p_dry then
    select count(*) into matched from lockstep._dead_letters(v_queue_id, p_group, p_partition, p_error, p_from, p_to);
    return;
  end if;
  for v_letter in
    select d.* from dead_letter d
     where d.queue_id = v_queue_id and d.failed_at >= v_time and (v_id is null or (d.failed_at, d.id) > (v_time, v_id))
       and (p_group is null or d.group_name = p_group) and (p_partition is null or d.partition_name = p_partition)
       and (p_error is null or strpos(d.error, p_error) > 0)
       and (p_from is null or d.failed_at >= p_from) and (p_to is null or d.failed_at < p_to)
     order by d.failed_at, d.id
     limit p_limit
       for update skip locked
  loop
    select r.result into v_result from lockstep._redrive(v_letter, p_queue, v_letter.partition_name, null, null) r;
    matched := matched + 1;
    moved := moved + (v_result = 'moved')::int;
    kept := kept + (v_result not in ('moved', 'sealed'))::int;
    if v_result = 'sealed' then
      sealed := sealed || ' ' || v_letter.id;
    end if;
    next_after := lockstep.instant_text(v_letter.failed_at) || '|' || v_letter.id;
  end loop;
  if moved > 0 then
    perform lockstep._audit('redrive_dead_letters', json_build_object('queue', p_queue, 'group', p_group, 'partition', p_partition, 'error', left(p_error, 256),
      'from', p_from::text, 'to', p_to::text), json_build_object('moved', moved, 'kept', kept));
  end if;
  if matched < p_limit then
    next_after := null;
  end if;
end
$$;
