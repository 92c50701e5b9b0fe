-- purpose: one bounded step in removing what reset queries remembered
-- locks in order: stream query (for update, SKIP LOCKED), stream state (SKIP LOCKED)
-- raises: nothing
-- idempotent how: takes what is there; answers the rows removed
-- index used: stream_query_wiped, stream_state_pkey
-- The row of a reset query goes last, under a lock that no running cycle shares.
create or replace function lockstep.remove_stream_state(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_query int;
  v_count int;
begin
  select q.id into v_query from stream_query q
   where q.wiped_at is not null order by q.wiped_at limit 1 for update skip locked;
  if found then
    delete from stream_state s
     using (select k.queue_id, k.partition_id, k.key from stream_state k where k.query_id = v_query
             order by k.queue_id, k.partition_id, k.key limit p_limit for no key update skip locked) d
     where s.query_id = v_query and s.queue_id = d.queue_id and s.partition_id = d.partition_id and s.key = d.key;
    get diagnostics v_count = row_count;
    if v_count = 0 and not exists (select 1 from stream_state s where s.query_id = v_query) then
      delete from stream_query q where q.id = v_query;
      v_count := 1;
    end if;
    return v_count;
  end if;
  return 0;
end
$$;
