-- purpose: puts newly sealed payloads in the place of the ones that were read, row by row in the order of the table's key; answers
--   how many: what was changed, moved or removed meanwhile is left alone
-- locks in order: timer (queue, key) or dead letter (queue, id); one table per call
-- raises: LS425 isolation_not_supported
-- idempotent how: only a row that still holds what was read is changed
-- index used: message_pkey, staged_pkey, dead_letter_pkey, timer_pkey
-- p_one, p_two, p_three: the places, column by column. p_old are md5 digests of the payloads that were read.
create or replace function lockstep.reseal(
  p_table text, p_one text[], p_two text[], p_three text[], p_id uuid[], p_old text[], p_new text[]) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_count int := 0;
  v_done int;
begin
  perform lockstep._demand_read_committed();
  for i in 1 .. cardinality(p_id) loop
    if p_table = 'message' then
      update message m set payload = p_new[i]
       where m.queue_id = p_one[i]::int and m.partition_id = p_two[i]::bigint and m."offset" = p_three[i]::bigint
         and m.id = p_id[i] and md5(m.payload) = p_old[i];
    elsif p_table = 'dead_letter' then
      update dead_letter d set payload = p_new[i]
       where d.queue_id = p_one[i]::int and d.id = p_two[i]::uuid and d.message_id = p_id[i] and md5(d.payload) = p_old[i];
    elsif p_table = 'staged' then
      update staged s set payload = p_new[i]
       where s.queue_name = p_one[i] and s.partition_name = p_two[i] and s.seq = p_three[i]::bigint
         and s.id = p_id[i] and md5(s.payload) = p_old[i];
    else
      update timer t set payload = p_new[i]
       where t.queue_name = p_one[i] and t.key = p_two[i] and t.message_id = p_id[i] and md5(t.payload) = p_old[i];
    end if;
    get diagnostics v_done = row_count;
    v_count := v_count + v_done;
  end loop;
  return v_count;
end
$$;
